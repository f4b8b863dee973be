import type { ToolRegistry } from '@mailroom/capabilities';
import type { AssistantEntry, JournalEntry, ToolCall } from '@mailroom/contracts';
import type { ModelAnswer } from '@mailroom/llm';
import type { Inbox, OutgoingMessage, StepEvent, StepPart } from '@mailroom/mailbox';
import type { Memory } from './memory';
import { messageTools, SEND_MESSAGE, WAIT_FOR_MESSAGES } from './message-tools';
import { addressMessage } from './outgoing-mail';
import { cutResult } from './result-text';
import type { Seat } from './team';

/** A model's answer and all that decides what becomes of it. */
export interface Answered {
  seat: Seat;
  sessionId: string;
  inbox: Inbox;
  memory: Memory;
  last: boolean;
  step: number;
  answer: ModelAnswer;
  /** Its tool calls; none at a last step, where a model that was offered no tools may call some all the same. */
  calls: readonly ToolCall[];
  /** Text events that were not written yet. */
  told: readonly StepEvent[];
  tools: ToolRegistry;
}

const NUDGE =
  'Your last answer was empty. Write a summary of what you found as plain text; it is what the reader gets. Call no tools.';
const NO_RESULT = 'The agent ended without a result: its last answers were empty.';
const EARLIER = '(The last answer of the agent was empty; this is its last text before.)';

/** The commit of a model's answer: journal, usage, messages, and whether the agent goes on, parks or has finished. */
export function answerPart(answered: Answered): StepPart {
  const { answer, calls, step, inbox, last } = answered;
  const assistant: AssistantEntry = {
    kind: 'assistant',
    step,
    runId: inbox.runId ?? '',
    openTasks: inbox.tasks.filter((task) => task.read).map((task) => task.id),
    content: answer.content,
    ...(answer.reasoning !== undefined && { reasoning: answer.reasoning }),
    toolCalls: [...calls],
    model: answer.model,
    usage: answer.usage,
    ...(last && { last: true }),
  };
  const part: StepPart = {
    step,
    entries: [assistant],
    events: [...answered.told, ...calls.map((call) => toolStarted(call, step)), usageOf(answer, step)],
    sends: [],
    usage: { input: answer.usage.input, output: answer.usage.output },
    park: 'no',
  };
  return calls.length === 0 ? { ...part, ...spoken(answered, assistant) } : called(answered, part);
}

/** A step without tool calls: the result, the answer, or nothing to say (R10, R14). */
function spoken({ seat, inbox, memory, answer, last }: Answered, assistant: AssistantEntry): Partial<StepPart> {
  const text = answer.content;
  const isEmpty = text.trim() === '';
  const isInterim = seat.role === 'lead' && inbox.tasks.length > 0;
  if (isEmpty && !isInterim && !last && !memory.wasTold('nudge'))
    return { entries: [assistant, { kind: 'engine', code: 'nudge', text: NUDGE }] };
  if (seat.role === 'lead') {
    const reason = inbox.final ?? (isEmpty && !isInterim ? 'empty_answer' : undefined);
    return { settle: { status: 'completed', force: false, text: isEmpty ? '' : text, ...(reason && { reason }) } };
  }
  const earlier = inbox.tasks[0] && memory.lastText(inbox.tasks[0].id);
  const fallback = earlier ? `${earlier}\n\n${EARLIER}` : NO_RESULT;
  return {
    final: { status: isEmpty || last ? 'partial' : 'ok', force: last, text: cutResult(isEmpty ? fallback : text) },
    ...(last && { leave: 'max_steps' as const }),
  };
}

/** A step with tool calls: messages go out with the commit, ordinary tools stay open (R9). */
function called({ seat, sessionId, calls, step, tools }: Answered, part: StepPart): StepPart {
  const entries: JournalEntry[] = [...part.entries];
  const events: StepEvent[] = [...part.events];
  const sends: OutgoingMessage[] = [];
  const open: string[] = [];
  const waits: ToolCall[] = [];
  let isRefused = false;
  const refuse = (call: ToolCall, entry: JournalEntry, code: string) => {
    isRefused = true;
    entries.push(entry);
    events.push(toolFinished(call, step, { outcome: code, error: true }));
  };

  const own = messageTools(seat).map((tool) => tool.name);
  const offered = [...own, ...tools.specs(seat.definition?.tools ?? []).specs.map((spec) => spec.name)];
  for (const call of calls) {
    if (!offered.includes(call.name)) {
      const content = `There is no tool "${call.name}". Available: ${offered.join(', ') || 'none'}.`;
      refuse(call, { kind: 'tool', callId: call.id, content, error: true }, 'unknown_tool');
    } else if (call.name === SEND_MESSAGE) {
      const addressed = addressMessage(call, seat, sessionId, step);
      if (addressed.ok) sends.push(addressed.message);
      else {
        const { code, to, type } = addressed.entry;
        refuse(call, addressed.entry, code);
        events.push({ code: 'ae', data: { code, message: 'refused', to, type } });
      }
    } else if (call.name === WAIT_FOR_MESSAGES) waits.push(call);
    else open.push(call.id);
  }

  const goesOn = isRefused || open.length > 0;
  for (const call of waits) {
    const content = goesOn ? 'Not parked: look at the results of this step first.' : 'You were parked until mail came.';
    entries.push({ kind: 'tool', callId: call.id, content });
    events.push(toolFinished(call, step, { outcome: content }));
  }
  const onlyReports =
    calls.length === sends.length && sends.every(({ type }) => type === 'clarify' || type === 'result');
  const parksWhenDone = seat.role === 'sub-agent' && onlyReports;
  return {
    ...part,
    entries,
    events,
    sends,
    ...(open.length > 0 && { open }),
    park: goesOn ? 'no' : waits.length > 0 ? 'yes' : parksWhenDone ? 'if_done' : 'no',
  };
}

function toolStarted(call: ToolCall, step: number): StepEvent {
  return { code: 'ts', data: { toolCallId: call.id, name: call.name, arguments: call.arguments, step } };
}

function toolFinished(call: ToolCall, step: number, result: { outcome: string; error?: boolean }): StepEvent {
  return { code: 'tr', data: { toolCallId: call.id, name: call.name, ...result, step } };
}

function usageOf(answer: ModelAnswer, step: number): StepEvent {
  const latencyMs = Math.round(answer.latencyMs);
  return { code: 'u', data: { model: answer.model, ...answer.usage, latencyMs, step, attempt: answer.attempts } };
}
