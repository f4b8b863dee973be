import { z } from 'zod';
import { LEAD } from './address';

/** What a message asks for (seed 000 §3.2, and `notice` from the system). */
export const MESSAGE_TYPES = [
  'task',
  'clarify',
  'clarify_resp',
  'progress',
  'result',
  'revision',
  'shutdown',
  'notice',
] as const;
export const messageType = z.enum(MESSAGE_TYPES);
export type MessageType = z.infer<typeof messageType>;

/** How a task ended; set by the engine, never read from what the text claims (R5). */
export const resultStatus = z.enum(['ok', 'partial', 'failed', 'cancelled', 'timeout']);
export type ResultStatus = z.infer<typeof resultStatus>;

export const MSG_ID = /^msg_[0-9a-f]{12}$/;

/** One message between two addresses of a session. `seq` counts per mailbox; `ts` is ISO 8601. */
export const agentMessage = z.object({
  msgId: z.string().regex(MSG_ID),
  inReplyTo: z.string().optional(),
  from: z.string(),
  to: z.string(),
  type: messageType,
  content: z.string(),
  context: z.string().optional(),
  ts: z.string(),
  seq: z.number().int(),
  /** Only on a `result`. */
  status: resultStatus.optional(),
  /** Only on a `result` of a task that the engine had closed before (R17). */
  late: z.boolean().optional(),
  /** Only on a `result` that no further attempt can help: why. */
  code: z.string().optional(),
  /** Only on the task of a handoff: layers below the lead. */
  depth: z.number().int().optional(),
  /** Where the message was sent from in a distributed trace (W3C Trace Context); only where traces are exported. */
  traceparent: z.string().optional(),
});
export type AgentMessage = z.infer<typeof agentMessage>;

/** The two seats of a session. */
export type Role = 'lead' | 'sub-agent';

export function roleOf(address: string): Role {
  return address === LEAD ? 'lead' : 'sub-agent';
}

const SENDABLE: Record<Role, Record<Role, readonly MessageType[]>> = {
  lead: { lead: [], 'sub-agent': ['task', 'revision', 'clarify_resp', 'shutdown'] },
  'sub-agent': { lead: ['clarify', 'progress', 'result'], 'sub-agent': ['clarify', 'clarify_resp', 'progress'] },
};

/** The types that one seat may send to another; everything else is refused with R1. */
export function sendableTypes(from: Role, to: Role): readonly MessageType[] {
  return SENDABLE[from][to];
}
