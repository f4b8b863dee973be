/** Text that is no event stream is kept up to this many characters, to tell what the server sent instead. */
const STRAY_CHARACTERS = 1_048_576;

/**
 * Bytes of a server-sent event stream in, payloads out, synchronously and in order. Cuts may be anywhere. Comments and
 * payloads that carry no JSON by construction (empty, or a comment that a gateway wrapped as `data: : keepalive`) are
 * dropped.
 */
export class SseReader {
  private readonly decoder = new TextDecoder();
  private pending = '';
  private data: string | undefined;
  private event = '';
  /** Lines that belong to no event stream: a web page, a bare JSON body. */
  stray = '';

  constructor(private readonly onData: (data: string, event: string) => void) {}

  push(bytes: Uint8Array): void {
    this.split(this.decoder.decode(bytes, { stream: true }));
  }

  /** The body has ended. A last event without its blank line counts when it looks whole. */
  end(): void {
    this.split(this.decoder.decode());
    this.line(this.pending.replace(/\r$/, ''));
    this.pending = '';
    if (this.data !== undefined && /[\]}]\s*$/.test(this.data)) this.dispatch();
  }

  private split(text: string): void {
    // A carriage return at the very end stays pending: the line feed that belongs to it may follow.
    const lines = (this.pending + text).split(/\r\n|\n|\r(?!$)/);
    this.pending = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === '') {
      this.dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field === 'data') {
      const value = valueAfter(line, colon);
      this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    } else if (field === 'event') {
      this.event = valueAfter(line, colon);
    } else if (field !== 'id' && field !== 'retry' && this.stray.length < STRAY_CHARACTERS) {
      this.stray += `${line}\n`;
    }
  }

  private dispatch(): void {
    const { data, event } = this;
    this.data = undefined;
    this.event = '';
    if (data === undefined || data.startsWith(':') || data.trim() === '') return;
    this.onData(data, event);
  }
}

function valueAfter(line: string, colon: number): string {
  if (colon < 0) return '';
  return line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
}
