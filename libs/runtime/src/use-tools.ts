import { executeTool } from '@mailroom/capabilities';
import { derivedMessageId, type Inbox } from '@mailroom/mailbox';
import type { LedgerWriter } from './ledger-writer';
import type { Memory } from './memory';
import type { RunDeps } from './run-deps';
import type { Seat } from './team';

const UNKNOWN = 'The outcome of this call is unknown: the process that ran it ended. It was not run again.';

export interface ToolUse {
  seat: Seat;
  sessionId: string;
  inbox: Inbox;
  memory: Memory;
  writer: LedgerWriter;
  signal: AbortSignal;
  /** True: this activation asked for the calls and has not started them; else a process that is gone may have. */
  isFresh: boolean;
}

/**
 * Brings the results of all open tool calls, at the same time, each committed when it is there. After a crash only
 * idempotent tools run again, with the same key.
 */
export async function useTools(deps: RunDeps, use: ToolUse): Promise<void> {
  const calls = use.memory.lastCalls();
  await Promise.all(use.inbox.openCalls.map((id) => bring(deps, use, id, calls.get(id))));
}

async function bring(
  deps: RunDeps,
  use: ToolUse,
  id: string,
  call: { name: string; arguments: string } | undefined,
): Promise<void> {
  const tool = call && deps.tools.get(call.name);
  const mayRun = tool !== undefined && (tool.idempotent || use.isFresh);
  const outcome =
    mayRun && call
      ? await executeTool(
          tool,
          call.arguments,
          {
            sessionId: use.sessionId,
            agent: use.seat.address,
            idempotencyKey: derivedMessageId(use.sessionId, use.seat.address, use.inbox.step, id, 'tool').slice(4),
            signal: use.signal,
          },
          { timeoutMs: deps.settings.toolMs },
        )
      : { content: UNKNOWN, error: true };
  // What a stopped tool says is not its result: the call stays open for the next host, or was closed by the cancel.
  if (use.signal.aborted) throw use.signal.reason;
  await use.writer.commit({
    entries: [{ kind: 'tool', callId: id, content: outcome.content, ...(outcome.error && { error: true }) }],
    events: [
      {
        code: 'tr',
        data: {
          toolCallId: id,
          name: call?.name ?? '',
          outcome: outcome.content,
          ...(outcome.error && { error: true }),
          step: use.inbox.step,
        },
      },
    ],
    sends: [],
    closes: id,
    park: 'no',
  });
}
