import type {
  AgentMessage,
  AssistantEntry,
  EngineEntry,
  JournalEntry,
  SentEntry,
  ToolCall,
  ToolEntry,
} from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';

/** What an agent remembers: its journal, as far as this process has read it. Everything is derived from it. */
export class Memory {
  readonly entries: JournalEntry[] = [];
  readonly messages = new Map<string, AgentMessage>();

  /** Entries that are known; the next drain asks for those after it. */
  get length(): number {
    return this.entries.length;
  }

  take(inbox: Inbox): void {
    for (const entry of inbox.entries) this.entries.push(entry);
    for (const [id, message] of inbox.messages) this.messages.set(id, message);
  }

  /** Lets the transcript go; the next drain brings it back. */
  forget(): void {
    this.entries.length = 0;
    this.messages.clear();
  }

  /** Steps that began while the task was open, over all activations (R12). */
  stepsOf(taskId: string): number {
    return this.count((entry) => entry.openTasks.includes(taskId));
  }

  stepsOfRun(runId: string): number {
    return this.count((entry) => entry.runId === runId);
  }

  /** Steps of a run that the agent made without any open task (R12). */
  freeSteps(runId: string): number {
    return this.count((entry) => entry.runId === runId && entry.openTasks.length === 0);
  }

  /** The last non-empty text that the agent wrote while the task was open (R10). */
  lastText(taskId: string): string | undefined {
    return this.entries.findLast(
      (entry): entry is AssistantEntry =>
        entry.kind === 'assistant' && entry.openTasks.includes(taskId) && entry.content.trim() !== '',
    )?.content;
  }

  /** True when the engine said this since the last answer of the model. */
  wasTold(code: EngineEntry['code']): boolean {
    const lastAnswer = this.entries.findLastIndex((entry) => entry.kind === 'assistant');
    return this.entries.some((entry, i) => entry.kind === 'engine' && entry.code === code && i > lastAnswer);
  }

  /** Of the last answer, the calls with these ids. */
  callsOf(ids: readonly string[]): ToolCall[] {
    const answer = this.entries.findLast((entry): entry is AssistantEntry => entry.kind === 'assistant');
    return (answer?.toolCalls ?? []).filter(({ id }) => ids.includes(id));
  }

  /** The results that were committed for the answer at `index`; ids of calls may repeat in other answers. */
  resultsOf(index: number): Map<string, ToolEntry | SentEntry> {
    const results = new Map<string, ToolEntry | SentEntry>();
    for (let i = index + 1; i < this.entries.length; i++) {
      const entry = this.entries[i] as JournalEntry;
      if (entry.kind === 'assistant') break;
      if (entry.kind === 'tool' || entry.kind === 'sent') results.set(entry.callId, entry);
    }
    return results;
  }

  private count(matches: (entry: AssistantEntry) => boolean): number {
    let steps = 0;
    for (const entry of this.entries) if (entry.kind === 'assistant' && matches(entry)) steps++;
    return steps;
  }
}
