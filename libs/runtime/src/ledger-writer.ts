import type { JournalEntry } from '@mailroom/contracts';
import type { CommitReceipt, Fence, Mailbox, StepEvent, StepPart } from '@mailroom/mailbox';
import type { Attention } from './attention';

/** What a writer needs of the activation that it writes for. */
interface Writing {
  /** Journal entries that the host holds at first. */
  known: number;
  /** Counts the emits of the whole activation. */
  emitted: { count: number };
  /** The answer of a commit tells of all mail that came before it was sent, so earlier calls are forgotten. */
  attention: Pick<Attention, 'reset'>;
}

/**
 * Writes the parts of one agent's steps, one after the other: the fence carries the number of commits, so two parts
 * never race. Throws what the mailbox throws; after that the inbox has to be read again.
 */
export class LedgerWriter {
  /** Committed entries that follow in the journal right after what the host held at first. */
  readonly held: JournalEntry[] = [];
  private chain: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly mailbox: Mailbox,
    private fence: Fence,
    private readonly writing: Writing,
  ) {}

  /** Commits of the agent so far. */
  get commits(): number {
    return this.fence.n;
  }

  /** The receipt holds the next look into the mailbox, unless there is nothing to do or tool calls are open. */
  commit(part: StepPart): Promise<CommitReceipt> {
    return this.inTurn(async () => {
      this.writing.attention.reset();
      const known = this.writing.known + this.held.length;
      const receipt = await this.mailbox.commit(this.fence, { ...part, known });
      this.fence = { ...this.fence, n: this.fence.n + 1 };
      if (receipt.held) this.held.push(...part.entries);
      return receipt;
    });
  }

  emit(events: readonly StepEvent[]): Promise<void> {
    return this.inTurn(() => this.mailbox.emit(this.fence, ++this.writing.emitted.count, events));
  }

  private inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.chain.then(write);
    this.chain = turn.catch(() => undefined);
    return turn;
  }
}
