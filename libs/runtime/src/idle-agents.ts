import type { RunSettings } from './run-deps';
import { WaitingLine } from './waiting-line';

/** An agent as it is asked for while it idles. */
export interface IdleAgent {
  /** Lets its transcript go; the next look into the mailbox brings it back. */
  forget(): void;
  /** Its idle limit is reached (R11). It does not idle any more. */
  expire(): void;
  stop(reason: 'released' | 'evicted'): void;
}

/**
 * The idle agents of one process. There are thousands, so none has a timer or anything that waits: only places in two lines,
 * that of those who still remember their transcript and that of all.
 */
export class IdleAgents {
  private readonly remembering: WaitingLine<IdleAgent>;
  private readonly waiting: WaitingLine<IdleAgent>;

  /** `onIdle` is told when an agent begins to idle. */
  constructor(
    { idleMs, transcriptMs }: Pick<RunSettings, 'idleMs' | 'transcriptMs'>,
    private readonly onIdle: () => void = () => undefined,
  ) {
    this.remembering = new WaitingLine(transcriptMs, (agent) => agent.forget());
    this.waiting = new WaitingLine(idleMs, (agent) => {
      this.remembering.delete(agent);
      agent.expire();
    });
  }

  get size(): number {
    return this.waiting.size;
  }

  /** The one that idles longest. */
  get longest(): IdleAgent | undefined {
    return this.waiting.first;
  }

  add(agent: IdleAgent): void {
    this.remembering.add(agent);
    this.waiting.add(agent);
    this.onIdle();
  }

  /** False: it did not idle. */
  delete(agent: IdleAgent): boolean {
    this.remembering.delete(agent);
    return this.waiting.delete(agent);
  }
}
