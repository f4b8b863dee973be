import type { ModelEvent } from '@mailroom/llm';
import type { StepEvent } from '@mailroom/mailbox';

/** Text is written at most this often, so that a token costs no round trip of its own. */
const COALESCE_MS = 40;

/**
 * Collects the text of a running model call and writes it in pieces: never lost, never reordered. What is left when
 * the call ends is taken along by the step's commit. A failed write ends the writing; the commit will tell why.
 */
export class TextStream {
  private pending: { code: 't' | 'th'; text: string; attempt: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly write: (events: StepEvent[]) => Promise<void>,
    private readonly step: number,
    private readonly attemptsBefore: number,
  ) {}

  take(event: ModelEvent): void {
    const attempt = this.attemptsBefore + event.attempt;
    if (event.type === 'waiting') {
      this.flush([{ code: 'w', data: { for: 'provider', seconds: event.seconds, step: this.step, attempt } }]);
      return;
    }
    const code = event.type === 'text' ? 't' : 'th';
    const last = this.pending.at(-1);
    if (last?.code === code && last.attempt === attempt) last.text += event.text;
    else this.pending.push({ code, text: event.text, attempt });
    this.timer ??= setTimeout(() => this.flush([]), COALESCE_MS);
  }

  /** The events that were not written yet. Waits for those that are on their way. */
  async rest(): Promise<StepEvent[]> {
    const events = this.takePending();
    await this.writing;
    return events;
  }

  private flush(after: StepEvent[]): void {
    const events = [...this.takePending(), ...after];
    this.writing = this.writing.then(() => this.write(events)).catch(() => undefined);
  }

  private takePending(): StepEvent[] {
    clearTimeout(this.timer);
    this.timer = undefined;
    return this.pending
      .splice(0)
      .map(({ code, text, attempt }) => ({ code, data: { text, step: this.step, attempt } }));
  }
}
