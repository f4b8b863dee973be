import type { ActivationJob } from '@mailroom/contracts';
import type { DueEntry } from './due-entry';

/** Where the keys are, and what becomes of what a script asks of the process that ran it. */
export interface RedisMailboxOptions {
  prefix: string;
  /** Told of every activation that a script scheduled. It may fail: the due index repairs a lost one. */
  activate: (job: ActivationJob) => void;
  /** Told of every deadline that the sweeper's tick is too coarse for. It may be lost: the due index has it. */
  alarm?: (entry: DueEntry, ms: number) => void;
}
