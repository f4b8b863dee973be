import type { z } from 'zod';

/** What a tool knows of the call that it serves. */
export interface ToolContext {
  sessionId: string;
  agent: string;
  /** The same for every execution of one call, also after a crash. */
  idempotencyKey: string;
  /** Aborted when the call's time is over or its run is cancelled. */
  signal: AbortSignal;
}

/** A function that a model may call. */
export interface Tool<Arguments = unknown> {
  name: string;
  description: string;
  parameters: z.ZodType<Arguments>;
  /** True: running it twice with the same key does no harm, so it is run again after a crash. */
  idempotent: boolean;
  /** The limit of one call; the registry's default when absent. */
  timeoutMs?: number;
  execute(args: Arguments, context: ToolContext): Promise<unknown> | unknown;
}

/** What the model gets to read: always a non-empty text. */
export interface ToolOutcome {
  content: string;
  error: boolean;
}
