/**
 * The defaults of every limit, in one place. Times are milliseconds, sizes are UTF-8 bytes.
 * Which of them a deployment, a session or an agent can set is in docs/configuration.md.
 */
export const LIMITS = {
  /** Sub-agents that one lead may address (seed 000 §8). */
  rosterSize: 8,
  /** Steps of a sub-agent per task, over reloads (R12). */
  maxSteps: 8,
  /** Steps of a lead per run (R12). */
  leadMaxSteps: 32,
  /** Tool calls of one step. */
  callsPerStep: 32,
  /** Steps of a sub-agent per run while it has no open task (R12). */
  freeSteps: 4,
  /** An agent without mail leaves after this time (R11). */
  idleMs: 60_000,
  /** An agent that idles this long lets its transcript go; the next look brings it back. */
  transcriptMs: 2_000,
  /** A model call may be silent this long (R13). */
  modelSilenceMs: 30_000,
  /** A model call may last this long in all (R13). */
  modelCallMs: 120_000,
  /** Attempts of one model call (R13). */
  modelAttempts: 3,
  /** The longest wait that a provider may ask for; a longer one fails the call. */
  providerWaitMs: 60_000,
  /** A tool call may last this long (R13). */
  toolMs: 30_000,
  /** Messages that a mailbox holds (R4). */
  mailboxSize: 50,
  /** `content` and `context` of one message together (R7). */
  bodyBytes: 65_536,
  /** Deepest nesting of JSON that is taken from a client or a model (R7). */
  jsonDepth: 32,
  /** Mail that one drain moves at most (R8). */
  drainBytes: 1_048_576,
  /** Mail for a waiting lead that arrives within this window is taken together (R14). */
  wakeWindowMs: 250,
  /** A run in which nobody commits anything for this long is concluded (R15). */
  waitBudgetMs: 600_000,
  /** A question without an answer for this long is answered by the engine (R15). */
  clarifyMs: 300_000,
  /** Model calls of one session (R21). */
  sessionCalls: 200,
  /** Layers of handoffs below a lead, whatever a policy says (R20). */
  collaborationDepth: 1,
  /** Questions of a sub-agent during one handoff; later ones the engine answers. */
  handoffRounds: 5,
  /** Entries that a session's event stream keeps. */
  eventStreamLength: 10_000,
  /** How long the keys of an ended session stay readable. */
  keepMs: 3_600_000,
  /** How long the account of an ended session stays readable. */
  usageKeepMs: 7_776_000_000,
  /** A loaded agent whose lease is not renewed for this long is re-activated. */
  leaseMs: 15_000,
  /** The sweeper's tick. */
  sweepMs: 5_000,
  /** Activations in a row that had work and committed nothing before an agent is dead. */
  strikes: 5,
  /** Agents that one process hosts. */
  workerCapacity: 2_000,
  /** Silence on an event stream before a comment is sent. */
  ssePingMs: 15_000,
} as const;
