import type { ChatMessage } from './model-client';

/** Text beyond this length is kept as bytes, which a socket takes as they are; short ones are not worth a Buffer. */
const TEXT_LENGTH = 8_192;

/**
 * The beginning of a conversation's request bodies: all before its messages, and those that last, with a comma
 * after each. What was written is not written again.
 */
export class LastingBody {
  /** What comes after `bytes`. */
  text: string;
  private count = 0;
  private room = Buffer.alloc(0);
  private size = 0;

  constructor(
    readonly begin: string,
    private readonly json: (message: ChatMessage) => string,
  ) {
    this.text = begin;
  }

  /** Bytes that were given out stay as they are while more is added behind them. */
  get bytes(): Uint8Array {
    return this.room.subarray(0, this.size);
  }

  /** Writes what the list, which only grows, has more than last time. */
  add(messages: readonly ChatMessage[]): void {
    for (; this.count < messages.length; this.count++) {
      this.text += `${this.json(messages[this.count] as ChatMessage)},`;
      if (this.text.length > TEXT_LENGTH) this.keepText();
    }
  }

  private keepText(): void {
    const size = this.size + Buffer.byteLength(this.text);
    if (size > this.room.length) {
      const room = Buffer.allocUnsafeSlow(size * 2);
      this.room.copy(room, 0, 0, this.size);
      this.room = room;
    }
    this.room.write(this.text, this.size);
    this.size = size;
    this.text = '';
  }
}
