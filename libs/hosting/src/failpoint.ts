import { AppError } from '@mailroom/contracts';

/** Whether an action is about to begin or has just ended well. */
export type Edge = 'before' | 'after';

const FORM = /^(before|after):([a-z.]+)(?:@([^#]+))?(?:#([1-9]\d{0,5}))?$/;

/**
 * A place at which the process kills itself as `kill -9` would, for tests of faults. Written
 * `before|after:<action>[@<agent>][#<nth time>]`, for example `after:commit.answer@alice#3`.
 */
export class Failpoint {
  private constructor(
    private readonly edge: Edge,
    private readonly action: string,
    private readonly agent: string | undefined,
    private left: number,
  ) {}

  /** Throws `misconfigured` when the text is no failpoint. */
  static parse(text: string): Failpoint {
    const [, edge, action, agent, nth] = FORM.exec(text) ?? [];
    if (!edge || !action)
      throw new AppError('misconfigured', 'FAILPOINT is written before|after:<action>[@<agent>][#<nth time>]');
    return new Failpoint(edge as Edge, action, agent, Number(nth ?? 1));
  }

  /** Ends the process if this is the place; nothing of it runs after that, not even what is already scheduled. */
  pass(edge: Edge, action: string, agent: unknown): void {
    if (edge !== this.edge || action !== this.action) return;
    if (this.agent !== undefined && this.agent !== agent) return;
    if (--this.left === 0) process.kill(process.pid, 'SIGKILL');
  }
}
