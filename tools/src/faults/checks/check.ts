import type { Evidence } from '../evidence';

/** One invariant of the platform. */
export interface Check {
  /** `I1` … `I14`. */
  id: string;
  /** The fact, in a sentence. */
  fact: string;
  /** What contradicts it, a sentence each; names session, agent and ids. */
  find(evidence: Evidence): string[];
}
