import { executeTool, type ToolOutcome } from '@mailroom/capabilities';
import type { ToolCall } from '@mailroom/contracts';
import { derivedMessageId, type Inbox, type StepPart } from '@mailroom/mailbox';
import type { LedgerWriter } from './ledger-writer';
import type { RunDeps } from './run-deps';
import type { StepSpans } from './spans/step-spans';

const UNKNOWN = 'The outcome of this call is unknown: the process that ran it ended. It was not run again.';

export interface ToolUse {
  sessionId: string;
  agent: string;
  /** The step that asked for the calls. */
  step: number;
  calls: readonly ToolCall[];
  /** Calls that no process has begun. Those that take the place of a failed colleague are marked before they begin. */
  isFresh: (callId: string) => 'yes' | 'fallback' | 'no';
  writer: LedgerWriter;
  signal: AbortSignal;
  spans: StepSpans | undefined;
}

/**
 * Brings the results of tool calls, at the same time, each committed when it is there. After a crash only idempotent
 * tools run again, with the same key. Rejects with the signal's reason when aborted; the calls stay open then.
 * Resolves with the look into the mailbox that the last commit made.
 */
export async function useTools(deps: RunDeps, use: ToolUse): Promise<Inbox | undefined> {
  const receipts = await Promise.all(
    use.calls.map(async (call) => {
      const outcome = await run(deps, use, call);
      // What a stopped tool says is not its result: the call is for the next host, or was closed by the cancel.
      if (use.signal.aborted) throw use.signal.reason;
      const error = outcome.error && { error: true };
      return use.writer.commit({
        entries: [{ kind: 'tool', callId: call.id, content: outcome.content, ...error }],
        events: [
          {
            code: 'tr',
            data: { toolCallId: call.id, name: call.name, outcome: outcome.content, ...error, step: use.step },
          },
        ],
        sends: [],
        closes: call.id,
        park: 'no',
      });
    }),
  );
  return receipts.find(({ inbox }) => inbox)?.inbox;
}

function begun(callId: string): StepPart {
  return { entries: [{ kind: 'primary', callId }], events: [], sends: [], park: 'keep' };
}

async function run(deps: RunDeps, use: ToolUse, call: ToolCall): Promise<ToolOutcome> {
  const tool = deps.tools.get(call.name);
  const isFresh = use.isFresh(call.id);
  if (!tool || !(tool.idempotent || isFresh !== 'no')) return { content: UNKNOWN, error: true };
  if (isFresh === 'fallback') await use.writer.commit(begun(call.id));
  const { sessionId, agent, step, signal } = use;
  const idempotencyKey = derivedMessageId(sessionId, agent, step, call.id, 'tool').slice(4);
  const context = { sessionId, agent, idempotencyKey, signal };
  const execution = executeTool(tool, call.arguments, context, { timeoutMs: deps.settings.toolMs });
  return use.spans ? use.spans.tool(call, execution) : execution;
}
