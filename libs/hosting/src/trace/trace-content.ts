import { type JournalEntry, LEAD } from '@mailroom/contracts';
import type { SessionReader } from '@mailroom/mailbox';
import { sentPrompt } from '@mailroom/runtime';
import type { ContentPlace } from './found-span';

/** Journal entries and message ids that are read at once. */
export const CHUNK = 50;

/** Parts of a model call that no journal has (R16 for the table of facts). */
function notRecorded(agent: string): string[] {
  return ['system prompt', 'tools', ...(agent === LEAD ? ['facts table'] : [])];
}

/** Reads what was said: one span's worth at a time, so that one prompt is the most that is held. */
export class TraceContent {
  constructor(
    private readonly sessions: SessionReader,
    private readonly space: string,
    private readonly sessionId: string,
  ) {}

  async at(place: ContentPlace): Promise<Record<string, unknown> | undefined> {
    switch (place.kind) {
      case 'run':
        return this.ofRun(place.runId);
      case 'message':
        return this.ofMessage(place.msgId);
      case 'model':
        return this.ofModel(place.agent, place.at);
      case 'call':
        return this.ofCall(place);
    }
  }

  private async ofRun(runId: string): Promise<Record<string, unknown> | undefined> {
    const run = await this.sessions.run(this.space, this.sessionId, runId);
    return run?.output === undefined ? undefined : { output: run.output };
  }

  private async ofMessage(msgId: string): Promise<Record<string, unknown> | undefined> {
    const [message] = await this.sessions.messages(this.space, this.sessionId, [msgId]);
    if (!message) return undefined;
    const { content, context } = message;
    return { content, ...(context !== undefined && { context }) };
  }

  private async ofModel(agent: string, at: number): Promise<Record<string, unknown>> {
    const before: JournalEntry[] = [];
    while (before.length < at) {
      const part = await this.entries(agent, before.length, Math.min(before.length + CHUNK, at) - 1);
      if (part.length === 0) break;
      before.push(...part);
    }
    const ids = before.flatMap((entry) => ('ids' in entry ? entry.ids : []));
    const messages = new Map(
      (await this.sessions.messages(this.space, this.sessionId, ids)).map((message) => [message.msgId, message]),
    );
    const [answer] = await this.entries(agent, at, at);
    const sent = { messages: sentPrompt(before, messages), notRecorded: notRecorded(agent) };
    if (answer?.kind === 'summary') return { answer: { content: answer.text } };
    if (answer?.kind !== 'assistant') return { sent };
    const { content, reasoning, toolCalls } = answer;
    return { sent, answer: { content, ...(reasoning !== undefined && { reasoning }), toolCalls } };
  }

  private async ofCall(place: ContentPlace & { kind: 'call' }): Promise<Record<string, unknown>> {
    const { agent, at, callId, resultAt, error } = place;
    const [answer] = await this.entries(agent, at, at);
    const [result] = resultAt === undefined ? [] : await this.entries(agent, resultAt, resultAt);
    const call = answer?.kind === 'assistant' ? answer.toolCalls.find(({ id }) => id === callId) : undefined;
    return {
      ...(call && { arguments: call.arguments }),
      ...(await this.resultOf(result)),
      ...(error !== undefined && { error }),
    };
  }

  private async resultOf(entry: JournalEntry | undefined): Promise<Record<string, unknown>> {
    if (entry?.kind === 'tool') return { result: entry.content };
    if (entry?.kind !== 'handoff') return {};
    const messages = await this.sessions.messages(this.space, this.sessionId, entry.ids);
    return { result: messages.map(({ content }) => content).join('\n\n') };
  }

  private entries(agent: string, from: number, to: number): Promise<JournalEntry[]> {
    return this.sessions.journalPart(this.sessionId, agent, from, to);
  }
}
