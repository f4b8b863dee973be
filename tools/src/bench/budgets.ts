import { type Row, row } from './row';

/**
 * What the traffic with Redis may cost, counted from the protocol before it was measured: the least that its rules
 * allow, not what the code happens to do. A ratio above 1 names work that somebody can look for.
 */
const BUDGETS = {
  /** One message to an idle agent and the step that it causes: `send`, `drain`, `commit`. */
  'redis-commands-per-message': 3,
  /**
   * The same on the wire, both directions, with a body of 200 bytes. It travels three times (send; event; drain), the
   * model's answer of 60 bytes twice (commit; event). An EVALSHA names script, two keys and its arguments in about 350
   * bytes: three of them. The reply of a drain tells tasks, questions and fence in about 600. That was 2,500, written before
   * there was an account; the row of the model call in it is 250.
   */
  'redis-bytes-per-message': 2_750,
  /**
   * The team's session has eight steps. A drain and a commit each, three more of each for the tools' results: 22. Four
   * loads of seven (add, take, claim, subscribe, unsubscribe, team, finish): 28. A wake-up of the lead per result: 3.
   * Open, look up the lead, send, subscribe, unsubscribe, read the run: 6. In all 59.
   */
  'redis-commands-per-step': 7.4,
  /** In the scripts: session, agent, tasks and questions read, and for each message, event and entry one write. */
  'redis-commands-in-scripts-per-step': 60,
  /** As of a message, with the loads, the events of tools and texts, and the history that each load reads once. */
  'redis-bytes-per-step': 8_000,
  /**
   * An agent of ten thousand in one process: nothing of its own. The process renews leases three times in 15 s with one
   * script per slot (64): 13 a second. Each of its 24 BullMQ Workers asks for jobs every 5 s with two commands, looks for
   * stalled ones every 15 s and renews locks every 30 s: 12. And 18 of an idle deployment.
   */
  'redis-commands-per-idle-second': 0.0043,
  /** Session, agent and token of the lease every 5 s (90 bytes), id and token of the job's lock every 30 s (130). */
  'redis-bytes-per-idle-second': 25,
  /**
   * A gateway and a worker without agents: every 5 s the sweeper's look into 64 slots and its tick, and each of their
   * ten BullMQ Workers asks once, which are two commands: 89 in 10 process-seconds; and BullMQ's look for stalled jobs
   * every 15 s.
   */
  'redis-commands-per-idle-process-second': 9.3,
} as const;

/** A row of a counted figure beside its budget. */
export function budgetRow(name: keyof typeof BUDGETS, unit: 'commands' | 'bytes', value: number): Row {
  return row(name, unit, value, { name: 'budget', value: BUDGETS[name] });
}
