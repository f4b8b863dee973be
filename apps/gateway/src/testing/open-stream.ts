import type { SessionEvent } from '@mailroom/contracts';

/** An event stream as a client reads it: its raw text, and the events in it. */
export class OpenStream {
  text = '';
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private readonly decoder = new TextDecoder();

  constructor(
    readonly response: Response,
    private readonly leave: AbortController,
  ) {
    this.reader = response.body?.getReader();
  }

  /** The events so far, by the format that the gateway promises: three lines each. */
  get events(): SessionEvent[] {
    return [...this.text.matchAll(/^id: ([^\n]*)\nevent: ([^\n]*)\ndata: ([^\n]*)\n\n/gm)].map(
      ([, id, event, data]) => {
        const parsed = JSON.parse(data ?? '') as SessionEvent;
        if (parsed.id !== id || parsed.event !== event)
          throw new Error(`frame and envelope differ: ${id} ${event} ${data}`);
        return parsed;
      },
    );
  }

  /** Reads on until the condition holds. Throws when the stream ends before. */
  async until(condition: (stream: OpenStream) => boolean): Promise<SessionEvent[]> {
    while (!condition(this)) if (await this.readOn()) throw new Error(`the stream ended: ${this.text}`);
    return this.events;
  }

  /** Reads until the gateway ends the stream. */
  async ended(): Promise<SessionEvent[]> {
    while (!(await this.readOn()));
    return this.events;
  }

  close(): void {
    this.leave.abort();
  }

  private async readOn(): Promise<boolean> {
    const part = await this.reader?.read();
    if (!part || part.done) return true;
    this.text += this.decoder.decode(part.value, { stream: true });
    return false;
  }
}
