import { z } from 'zod';
import { agentName } from './address';
import { budget } from './budget';
import { LIMITS } from './limits';
import { run } from './run';
import { spending } from './usage';

/** What a user says: at most 64 KiB (R7). */
export const userInput = z
  .string()
  .min(1, 'the input is empty')
  .refine((text) => Buffer.byteLength(text) <= LIMITS.bodyBytes, `the input is larger than ${LIMITS.bodyBytes} bytes`);

export const openSessionBody = z.strictObject({
  leadAgentId: agentName,
  input: userInput.optional(),
  metadata: z.record(z.string().max(64), z.string().max(1_024)).default({}),
  budget: budget.default({}),
});
export type OpenSessionBody = z.output<typeof openSessionBody>;

/** What a user input does to a run that is on (R18). */
export const postMessageBody = z.strictObject({
  content: userInput,
  onBusy: z.enum(['steer', 'reject']).default('steer'),
});
export type PostMessageBody = z.output<typeof postMessageBody>;

export const cancelBody = z.strictObject({ reason: z.string().max(256).optional() }).default({});

export const agentState = z.enum(['unloaded', 'scheduled', 'loaded', 'dead']);
export type AgentState = z.infer<typeof agentState>;

export const openTask = z.object({
  id: z.string(),
  agentId: z.string(),
  /** Who gave it, if not the lead. */
  from: z.string().optional(),
  /** The handoff that it is an attempt of. */
  handoffId: z.string().optional(),
  runId: z.string(),
  openedAt: z.string(),
  /** False while the task still waits in the agent's mailbox. */
  read: z.boolean(),
  /** The latest progress message, if any. */
  progressId: z.string().optional(),
});
export type OpenTask = z.infer<typeof openTask>;

export const openQuestion = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  taskId: z.string().optional(),
  askedAt: z.string(),
});
export type OpenQuestion = z.infer<typeof openQuestion>;

export const sessionSummary = z.object({
  id: z.string(),
  status: z.enum(['open', 'closed']),
  leadAgentId: z.string(),
  createdAt: z.string(),
  metadata: z.record(z.string(), z.string()),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

export const sessionDetail = sessionSummary.extend({
  run: run.optional(),
  agents: z.array(
    z.object({
      id: z.string(),
      agent: z.string(),
      /** Of an instance that a handoff called into being: who called it, and how deep below the lead it is. */
      caller: z.string().optional(),
      depth: z.number().int().optional(),
      state: agentState,
      working: z.boolean(),
      step: z.number().int(),
      inbox: z.number().int(),
      usage: spending,
    }),
  ),
  usage: spending,
  openTasks: z.array(openTask),
  openQuestions: z.array(openQuestion),
});
export type SessionDetail = z.infer<typeof sessionDetail>;
