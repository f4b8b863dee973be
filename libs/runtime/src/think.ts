import type { AssistantEntry, JournalEntry, ToolCall } from '@mailroom/contracts';
import { LIMITS } from '@mailroom/contracts';
import { type ModelAnswer, ModelError } from '@mailroom/llm';
import type { CommitReceipt, Inbox, OutgoingMessage, StepEvent, StepPart } from '@mailroom/mailbox';
import { factsTable } from './facts-table';
import type { LedgerWriter } from './ledger-writer';
import type { Memory } from './memory';
import { messageTools, SEND_MESSAGE, WAIT_FOR_MESSAGES } from './message-tools';
import { address } from './outgoing-mail';
import { renderPrompt } from './prompt';
import type { RunDeps } from './run-deps';
import { systemPrompt } from './system-prompt';
import { type Seat, takeSeat } from './team';
import { TextStream } from './text-stream';

/** What one step needs to know. */
export interface Thought {
  seat: Seat;
  sessionId: string;
  inbox: Inbox;
  memory: Memory;
  writer: LedgerWriter;
  signal: AbortSignal;
  /** True: no tools, because a limit was reached. */
  last: boolean;
}

const NUDGE =
  'Your last answer was empty. Write a summary of what you found as plain text; it is what the reader gets. Call no tools.';
const NO_RESULT = 'The agent ended without a result: its last answers were empty.';
const CUT = '\n[cut here: the whole text is in the journal]';

/** Makes one model call and commits its answer; ordinary tool calls stay open for the next step of the loop. */
export async function think(deps: RunDeps, thought: Thought): Promise<CommitReceipt> {
  const { seat, inbox, memory, writer } = thought;
  const definition = seat.definition;
  if (!definition)
    return writer.commit(failure(thought, 'failed', `The agent "${seat.address}" has no active definition.`));
  const step = inbox.step + 1;
  const stream = new TextStream((events) => writer.emit(events), step, (inbox.tries - 1) * LIMITS.modelAttempts);
  try {
    const answer = await deps.model.complete(
      {
        model: definition.model ?? deps.settings.model,
        messages: renderPrompt(
          systemPrompt(definition, seat.address, seat.team),
          memory,
          seat.role === 'lead' ? factsTable(inbox, memory.messages, new Date()) : undefined,
        ),
        tools: thought.last ? [] : [...messageTools(seat), ...deps.tools.specs(definition.tools).specs],
        silenceMs: definition.modelSilenceMs ?? deps.settings.modelSilenceMs,
        callMs: definition.modelCallMs ?? deps.settings.modelCallMs,
        signal: thought.signal,
      },
      (event) => stream.take(event),
    );
    return await writer.commit(await answered(deps, thought, step, answer, stream));
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    deps.logger.warn({ sessionId: thought.sessionId, agent: seat.address, code: error.code }, 'model call failed');
    const status = error.code === 'model_timeout' ? 'timeout' : 'failed';
    const text = error.partialText ? `${error.message}\n\nText so far: ${error.partialText}` : error.message;
    const part = failure(thought, status, text, error.code);
    return writer.commit({ ...part, events: await stream.rest() });
  }
}

/** The commit of a model's answer. */
async function answered(
  deps: RunDeps,
  thought: Thought,
  step: number,
  answer: ModelAnswer,
  stream: TextStream,
): Promise<StepPart> {
  const { inbox } = thought;
  // A model that was offered no tools and calls some all the same is not asked again.
  const calls = thought.last ? [] : answer.toolCalls;
  const assistant: AssistantEntry = {
    kind: 'assistant',
    step,
    runId: inbox.runId ?? '',
    openTasks: inbox.tasks.filter((task) => task.read).map((task) => task.id),
    content: answer.content,
    ...(answer.reasoning !== undefined && { reasoning: answer.reasoning }),
    toolCalls: calls,
    model: answer.model,
    usage: answer.usage,
    ...(thought.last && { last: true }),
  };
  const usage: StepEvent = {
    code: 'u',
    data: {
      model: answer.model,
      ...answer.usage,
      latencyMs: Math.round(answer.latencyMs),
      step,
      attempt: answer.attempts,
    },
  };
  const part: StepPart = {
    step,
    entries: [assistant],
    events: [...(await stream.rest()), ...calls.map((call) => toolStarted(call, step)), usage],
    sends: [],
    usage: { input: answer.usage.input, output: answer.usage.output },
    park: 'no',
  };
  if (calls.length === 0) return { ...part, ...spoken(thought, answer.content, assistant) };
  // A colleague may have been taken out of service since the agent was loaded (R1).
  const seat = calls.some((call) => call.name === SEND_MESSAGE)
    ? await takeSeat(deps.agents, thought.seat.claim)
    : thought.seat;
  return { ...part, ...called(deps, { ...thought, seat }, part, calls, step) };
}

/** A step without tool calls: the result, the answer, or nothing to say (R10, R14). */
function spoken(thought: Thought, text: string, assistant: AssistantEntry): Partial<StepPart> {
  const { seat, inbox, memory } = thought;
  const isEmpty = text.trim() === '';
  if (isEmpty && !memory.wasTold('nudge') && !(seat.role === 'lead' && inbox.tasks.length > 0))
    return { entries: [assistant, { kind: 'engine', code: 'nudge', text: NUDGE }] };
  if (seat.role === 'lead') {
    const reason = inbox.final ?? (isEmpty && inbox.tasks.length === 0 ? 'empty_answer' : undefined);
    return { settle: { status: 'completed', force: false, text: isEmpty ? '' : text, ...(reason && { reason }) } };
  }
  const oldest = inbox.tasks[0];
  const earlier = oldest && memory.lastText(oldest.id);
  const result = isEmpty
    ? earlier
      ? `${earlier}\n\n(The last answer of the agent was empty; this is its last text before.)`
      : NO_RESULT
    : text;
  return {
    final: { status: isEmpty || thought.last ? 'partial' : 'ok', force: thought.last, text: cutBody(result) },
    ...(thought.last && { leave: 'max_steps' as const }),
  };
}

/** A step with tool calls: messages go out with the commit, other tools stay open (R9). */
function called(
  deps: RunDeps,
  { seat, sessionId }: Thought,
  part: StepPart,
  calls: ToolCall[],
  step: number,
): Partial<StepPart> {
  const entries: JournalEntry[] = [...part.entries];
  const events: StepEvent[] = [...part.events];
  const sends: OutgoingMessage[] = [];
  const open: string[] = [];
  let isRefused = false;
  let waits = false;
  const refuse = (call: ToolCall, entry: JournalEntry, code: string) => {
    isRefused = true;
    entries.push(entry);
    events.push({ code: 'tr', data: { toolCallId: call.id, name: call.name, outcome: code, error: true, step } });
  };
  const offered = new Set([...messageTools(seat).map((tool) => tool.name), ...(seat.definition?.tools ?? [])]);
  for (const call of calls) {
    if (
      !offered.has(call.name) ||
      (call.name !== SEND_MESSAGE && call.name !== WAIT_FOR_MESSAGES && !deps.tools.get(call.name))
    ) {
      refuse(
        call,
        { kind: 'tool', callId: call.id, content: unknownTool(call.name, [...offered]), error: true },
        'unknown_tool',
      );
    } else if (call.name === SEND_MESSAGE) {
      const addressed = address(call, seat, sessionId, step);
      if (addressed.ok) sends.push(addressed.message);
      else {
        refuse(call, addressed.entry, addressed.entry.code);
        events.push({
          code: 'ae',
          data: { code: addressed.entry.code, message: 'refused', to: addressed.entry.to, type: addressed.entry.type },
        });
      }
    } else if (call.name === WAIT_FOR_MESSAGES) waits = true;
    else open.push(call.id);
  }
  for (const call of calls.filter(({ name }) => name === WAIT_FOR_MESSAGES && offered.has(name))) {
    const content =
      open.length > 0 || isRefused
        ? 'Not parked: first look at the results of this step.'
        : 'You were parked until mail came.';
    entries.push({ kind: 'tool', callId: call.id, content });
    events.push({ code: 'tr', data: { toolCallId: call.id, name: call.name, outcome: content, step } });
  }
  return {
    entries,
    events,
    sends,
    ...(open.length > 0 && { open }),
    park: parking(seat, sends, calls, waits, isRefused || open.length > 0),
  };
}

function parking(
  seat: Seat,
  sends: OutgoingMessage[],
  calls: ToolCall[],
  waits: boolean,
  goesOn: boolean,
): StepPart['park'] {
  if (goesOn) return 'no';
  if (waits) return 'yes';
  const onlyReports =
    sends.length === calls.length && sends.every(({ type }) => type === 'clarify' || type === 'result');
  return seat.role === 'sub-agent' && onlyReports ? 'if_done' : 'no';
}

/** The commit of a step that could not be made: errors are messages (R13). */
function failure({ seat }: Thought, status: 'failed' | 'timeout', text: string, code = 'agent_unavailable'): StepPart {
  const part: StepPart = {
    entries: [{ kind: 'engine', code: 'failure', text: 'A step could not be made, and the work on it was ended.' }],
    events: [],
    sends: [],
    park: 'yes',
  };
  if (seat.role === 'lead') return { ...part, settle: { status: 'failed', reason: code, force: true, text } };
  return { ...part, final: { status, force: true, text: cutBody(text) }, leave: 'error' };
}

function toolStarted(call: ToolCall, step: number): StepEvent {
  return { code: 'ts', data: { toolCallId: call.id, name: call.name, arguments: call.arguments, step } };
}

function unknownTool(name: string, offered: string[]): string {
  return `There is no tool "${name}". Available: ${offered.join(', ') || 'none'}.`;
}

/** A result holds at most what a message may hold; the whole stays in the journal (R7). */
function cutBody(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LIMITS.bodyBytes) return text;
  const end = LIMITS.bodyBytes - Buffer.byteLength(CUT);
  let cut = end;
  while (cut > 0 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return bytes.subarray(0, cut).toString('utf8') + CUT;
}
