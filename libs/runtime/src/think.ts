import { type AgentDefinition, LIMITS, type ToolCall } from '@mailroom/contracts';
import { type ModelAnswer, ModelError } from '@mailroom/llm';
import type { CommitReceipt, Inbox, StepPart } from '@mailroom/mailbox';
import { answerPart } from './answer-part';
import { factsTable } from './facts-table';
import type { LedgerWriter } from './ledger-writer';
import type { Memory } from './memory';
import { messageTools, SEND_MESSAGE } from './message-tools';
import { renderPrompt } from './prompt';
import { cutResult } from './result-text';
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
    return { receipt: await writer.commit(part), open: [] };
  }
  const step = inbox.step + 1;
  const stream = new TextStream((events) => writer.emit(events), step, (inbox.tries - 1) * LIMITS.modelAttempts);
  try {
    const answer = await callModel(deps, thought, definition, stream);
    const calls = last ? [] : answer.toolCalls;
    // A colleague may have been taken out of service since the agent was loaded (R1).
    const current = calls.some(({ name }) => name === SEND_MESSAGE) ? await takeSeat(deps.agents, seat.claim) : seat;
    const told = await stream.rest();
    const part = answerPart({
      seat: current,
      sessionId,
      inbox,
      memory,
      last,
      step,
      answer,
      calls,
      told,
      tools: deps.tools,
    });
    const receipt = await writer.commit(part);
    return { receipt, open: calls.filter(({ id }) => part.open?.includes(id)) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    deps.logger.warn({ sessionId, agent: seat.address, code: error.code }, 'model call failed');
    const status = error.code === 'model_timeout' ? 'timeout' : 'failed';
    const text = error.partialText ? `${error.message}\n\nText so far: ${error.partialText}` : error.message;
    const part = { ...failedPart(seat, status, text, error.code), events: await stream.rest() };
    return { receipt: await writer.commit(part), open: [] };
  }
}

function callModel(
  deps: RunDeps,
  thought: Thought,
  definition: AgentDefinition,
  stream: TextStream,
): Promise<ModelAnswer> {
  const { seat, inbox, memory, signal, last } = thought;
  return deps.model.complete(
    {
      model: definition.model ?? deps.settings.model,
      messages: renderPrompt(
        systemPrompt(definition, seat.address, seat.team),
        memory,
        seat.role === 'lead' ? factsTable(inbox, memory.messages, new Date()) : undefined,
      ),
      tools: last ? [] : [...messageTools(seat), ...deps.tools.specs(definition.tools).specs],
      silenceMs: definition.modelSilenceMs ?? deps.settings.modelSilenceMs,
      callMs: definition.modelCallMs ?? deps.settings.modelCallMs,
      signal,
    },
    (event) => stream.take(event),
  );
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
