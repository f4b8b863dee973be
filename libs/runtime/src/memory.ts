import type {
  AgentMessage,
  AssistantEntry,
  EngineEntry,
  HandoffEntry,
  JournalEntry,
  SentEntry,
  ToolCall,
  ToolEntry,
} from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';

/** What an agent remembers: its journal, as far as this process has read it. Everything is derived from it. */
export class Memory {
  private readonly journal: JournalEntry[] = [];
  readonly messages = new Map<string, AgentMessage>();
  /** Commits of the agent that are known of. */
  commits = 0;
  private readonly steps = new StepCount();

  get entries(): readonly JournalEntry[] {
    return this.journal;
  }

  /** Entries that are known; the next drain asks for those after it. */
  get length(): number {
    return this.entries.length;
  }

  take(inbox: Inbox): void {
    this.add(inbox.entries, inbox.fence.n);
    for (const [id, message] of inbox.messages) this.messages.set(id, message);
  }

  /** Entries that follow those that are known, because this process committed them. */
  add(entries: readonly JournalEntry[], commits: number): void {
    for (const entry of entries) {
      this.journal.push(entry);
      if (entry.kind === 'assistant') this.steps.add(entry);
    }
    this.commits = commits;
  }

  /** Steps that began while the task was open, over all activations (R12). */
  stepsOf(taskId: string): number {
    return this.steps.ofTask.get(taskId) ?? 0;
  }

  stepsOfRun(runId: string): number {
    return this.steps.ofRun.get(runId) ?? 0;
  }

  /** Steps of a run that the agent made without any open task (R12). */
  freeSteps(runId: string): number {
    return this.steps.withoutTask.get(runId) ?? 0;
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
    return this.sinceAnswer((entry) => entry.kind === 'engine' && entry.code === code) !== undefined;
  }

  /** Of the last answer, the calls with these ids. */
  callsOf(ids: readonly string[]): ToolCall[] {
    const answer = this.entries.findLast((entry): entry is AssistantEntry => entry.kind === 'assistant');
    return (answer?.toolCalls ?? []).filter(({ id }) => ids.includes(id));
  }

  /** How often the agent has called a tool, over all its answers. */
  callsNamed(name: string): number {
    let calls = 0;
    for (const entry of this.entries)
      if (entry.kind === 'assistant') calls += entry.toolCalls.filter((call) => call.name === name).length;
    return calls;
  }

  /** Since the last answer, the policy error that a colleague came back with. */
  denial(): HandoffEntry | undefined {
    return this.sinceAnswer((entry) => entry.kind === 'handoff' && entry.outcome === 'denied') as
      | HandoffEntry
      | undefined;
  }

  /** Whether the agent's own tool is to answer a call, and nobody began it yet. */
  isFallback(callId: string): boolean {
    const told = (kind: 'handoff' | 'primary') =>
      this.sinceAnswer(
        (entry) =>
          entry.kind === kind && entry.callId === callId && (entry.kind !== 'handoff' || entry.outcome === 'fallback'),
      ) !== undefined;
    return told('handoff') && !told('primary');
  }

  /** The results that were committed for the answer at `index`; ids of calls may repeat in other answers. */
  resultsOf(index: number): Map<string, ToolEntry | SentEntry | HandoffEntry> {
    const results = new Map<string, ToolEntry | SentEntry | HandoffEntry>();
    for (let i = index + 1; i < this.entries.length; i++) {
      const entry = this.entries[i] as JournalEntry;
      if (entry.kind === 'assistant') break;
      if (entry.kind === 'tool' || entry.kind === 'sent' || entry.kind === 'handoff') results.set(entry.callId, entry);
    }
    return results;
  }

  /** What ended without an answer, by a failure or a cancel, is over as well: the next task begins anew. */
  private sinceAnswer(matches: (entry: JournalEntry) => boolean): JournalEntry | undefined {
    for (let i = this.entries.length - 1; i >= 0; i--) {
      const entry = this.entries[i] as JournalEntry;
      if (entry.kind === 'assistant') return undefined;
      if (entry.kind === 'engine' && (entry.code === 'failure' || entry.code === 'cancelled')) return undefined;
      if (matches(entry)) return entry;
    }
    return undefined;
  }
}

/** Answers of the model, counted as they come: a step asks for them, however long the journal is. */
class StepCount {
  readonly ofTask = new Map<string, number>();
  readonly ofRun = new Map<string, number>();
  /** By run. */
  readonly withoutTask = new Map<string, number>();

  add({ runId, openTasks }: AssistantEntry): void {
    raise(this.ofRun, runId);
    if (openTasks.length === 0) raise(this.withoutTask, runId);
    for (const task of openTasks) raise(this.ofTask, task);
  }
}

function raise(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
