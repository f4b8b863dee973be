import { LIMITS, type ToolCall } from '@mailroom/contracts';
import { type ModelAnswer, ModelError } from '@mailroom/llm';
import type { CommitReceipt, Inbox, StepPart } from '@mailroom/mailbox';
import { answerPart } from './answer-part';
import { answeredCall, failedCall } from './call-record';
import { failedReport } from './handoff/report';
import type { LedgerWriter } from './ledger-writer';
import { SEND_MESSAGE } from './mail/message-tools';
import type { Memory } from './memory';
import { renderPrompt } from './prompt/prompt';
import { cutResult } from './result-text';
import type { RunDeps } from './run-deps';
import type { StepSpans } from './spans/step-spans';
import { refusal, type StepRequest, stepRequest } from './step-request';
import { type Seat, takeSeat } from './team';
import { TextStream } from './text-stream';

const NOTHING_LEFT =
  'Nothing of the history is left to summarise: the system prompt, the tools and the latest messages alone are too long for this model. Take one with a larger window, or shorten them.';

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
  spans: StepSpans | undefined;
}

/** What a step did so far, and the ordinary tool calls that it still owes the results of. */
export interface Thinking {
  receipt: CommitReceipt;
  open: readonly ToolCall[];
}

/** Makes one model call and commits its answer. */
export async function think(deps: RunDeps, thought: Thought): Promise<Thinking> {
  const { seat, inbox, memory, writer, sessionId, last } = thought;
  const { definition } = seat;
  if (!definition) {
    const part = failedPart(seat, 'failed', `The agent "${seat.address}" has no active definition.`);
    return { receipt: await commit(thought, part), open: [] };
  }
  const step = inbox.step + 1;
  const caller = { seat, inbox, model: definition.model ?? deps.settings.model };
  const stream = new TextStream((events) => writer.emit(events), step, (inbox.tries - 1) * LIMITS.modelAttempts);
  const request = stepRequest(deps, definition, thought, last);
  try {
    const answer = await callModel(deps, thought, request, stream);
    const calls = last ? [] : answer.toolCalls;
    // A colleague may have been taken out of service since the agent was loaded (R1).
    const isSent = calls.some(({ name }) => name === SEND_MESSAGE || seat.callees.some(({ tool }) => tool === name));
    const current = isSent ? await seatNow(deps, seat) : seat;
    const told = await stream.rest();
    const part = answerPart({
      seat: current,
      sessionId,
      inbox,
      memory,
      last,
      step,
      answer,
      call: answeredCall(caller, answer, deps.prices),
      calls,
      told,
      tools: deps.tools,
      filters: deps.filters,
      window: request.window,
    });
    const receipt = await commit(thought, part);
    return { receipt, open: calls.filter(({ id }) => part.open?.includes(id)) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    deps.logger.warn({ sessionId, agent: seat.address, code: error.code }, 'model call failed');
    if (error.code === 'model_context_exceeded') {
      const refused = refusal(request, inbox, memory);
      const usage = failedCall(caller, error);
      if (refused)
        return { receipt: await writer.commit({ ...refused, usage, events: await stream.rest() }), open: [] };
    }
    const status = error.code === 'model_timeout' ? 'timeout' : 'failed';
    const usage = failedCall(caller, error);
    const cutShort = cutShortPart(thought, error);
    if (cutShort)
      return { receipt: await writer.commit({ ...cutShort, usage, events: await stream.rest() }), open: [] };
    const reason = error.code === 'model_context_exceeded' ? `${error.message}. ${NOTHING_LEFT}` : error.message;
    const text = error.partialText ? `${reason}\n\nText so far: ${error.partialText}` : reason;
    const part = { ...failedPart(seat, status, text, error.code), usage, events: await stream.rest() };
    return { receipt: await commit(thought, part), open: [] };
  }
}

async function seatNow({ agents, settings }: RunDeps, { address, membership }: Seat): Promise<Seat> {
  return takeSeat(await agents.current(), address, membership, settings.depthCap);
}

function commit({ writer, spans }: Thought, part: StepPart): Promise<CommitReceipt> {
  return spans ? spans.commit(part, (traced) => writer.commit(traced)) : writer.commit(part);
}

function callModel(
  deps: RunDeps,
  { memory, signal, spans }: Thought,
  request: StepRequest,
  stream: TextStream,
): Promise<ModelAnswer> {
  const { model, tools, silenceMs, callMs } = request;
  const prompt = renderPrompt(request.system, memory, request.tail, request.window);
  const call = deps.model.complete({ model, ...prompt, tools, silenceMs, callMs, signal }, (event) =>
    stream.take(event),
  );
  return spans ? spans.chat(model, call) : call;
}

/** Who was called as a tool and has something to show reports on it even when the model failed. */
function cutShortPart({ seat, inbox, memory, last }: Thought, error: ModelError): StepPart | undefined {
  if (!seat.reports || last || !inbox.tasks.some(({ id }) => memory.stepsOf(id) > 0)) return undefined;
  const entry = failedReport(`a model call could not be made (${error.code})`);
  return { entries: [entry], events: [], sends: [], park: 'no', spent: true };
}

/** The commit of a step that could not be made: errors are messages (R13). */
function failedPart(seat: Seat, status: 'failed' | 'timeout', text: string, code = 'agent_unavailable'): StepPart {
  const part: StepPart = {
    entries: [{ kind: 'engine', code: 'failure', text: 'A step could not be made, and the work on it was ended.' }],
    events: [],
    sends: [],
    park: 'yes',
  };
  if (seat.role === 'lead') return { ...part, settle: { status: 'failed', reason: code, force: true, text } };
  return { ...part, final: { status, force: true, text: cutResult(text) }, leave: 'error' };
}
