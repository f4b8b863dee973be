import type { TraceSpan } from '@mailroom/contracts';

/** Where the content of a span is: read only when it is asked for, and when its turn has come. */
export type ContentPlace =
  | { kind: 'run'; runId: string }
  | { kind: 'message'; msgId: string }
  /** The answer at an index of a journal, and the entries before it. */
  | { kind: 'model'; agent: string; at: number }
  /** A call of the answer at an index, the entry with its result, and why a handoff failed. */
  | { kind: 'call'; agent: string; at: number; callId: string; resultAt?: number; error?: string };

/** A span of a trace that is being put together. */
export interface FoundSpan {
  span: TraceSpan;
  /** Its place among the others: ms. Without a time of its own, that of the latest message that was read before. */
  order: number;
  place?: ContentPlace;
}

/** ms of an ISO time; undefined stays. */
export function msOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
