import { ChatAgent, newMsgId, type TestCall, type TestMail, toolsFor } from './chat-agent';

export interface PlayMessage extends TestMail {
  to: string;
  msgId: string;
}

/**
 * A team in memory: every agent has its own loop, all ask the same scripted model at the same time. Just enough of the
 * rules of a session to play a script to its end: sends are delivered at once, a sub-agent's text is the result of its
 * open task, a lead's text ends the run unless a task is open.
 */
export class TeamPlay {
  readonly ledger: PlayMessage[] = [];
  private readonly agents = new Map<string, ChatAgent>();
  private readonly inboxes = new Map<string, PlayMessage[]>();
  private readonly busy = new Set<string>();
  private settle: (answer: string) => void = () => {};
  private fail: (error: unknown) => void = () => {};

  constructor(baseUrl: string, team: readonly string[], tools: readonly string[]) {
    this.agents.set('lead', new ChatAgent(baseUrl, 'lead', toolsFor(team)));
    for (const name of team)
      this.agents.set(
        name,
        new ChatAgent(baseUrl, name, toolsFor(['lead', ...team.filter((peer) => peer !== name)], tools)),
      );
  }

  /** Resolves with the lead's answer. */
  run(input: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.settle = resolve;
      this.fail = reject;
      this.deliver({ from: 'user', to: 'lead', type: 'task', content: input, msgId: newMsgId() });
    });
  }

  /** Who sent what to whom, in order. */
  story(): string[] {
    return this.ledger.map(({ from, to, type }) => `${from} > ${to}: ${type}`);
  }

  private deliver(message: PlayMessage): void {
    this.ledger.push(message);
    this.inboxes.set(message.to, [...(this.inboxes.get(message.to) ?? []), message]);
    if (message.type === 'progress' || this.busy.has(message.to)) return;
    this.busy.add(message.to);
    this.loop(message.to).catch(this.fail);
  }

  private async loop(name: string): Promise<void> {
    const agent = this.agents.get(name) as ChatAgent;
    for (let goesOn = true; goesOn || this.hasWakingMail(name); ) {
      const mail = (this.inboxes.get(name) ?? []).map(({ to: _, ...shown }) => shown);
      this.inboxes.delete(name);
      if (mail.length > 0) agent.hear(...mail);
      const answer = await agent.ask(name === 'lead' ? { facts: this.openTasks().join('\n') } : {});
      goesOn = answer.raw.map((call) => this.execute(agent, call)).every(Boolean) && answer.raw.length > 0;
      if (answer.raw.length === 0) this.conclude(name, answer.content);
    }
    this.busy.delete(name);
  }

  /** False when the call parks the agent. */
  private execute(agent: ChatAgent, call: TestCall): boolean {
    const { name } = call.function;
    const args = JSON.parse(call.function.arguments) as Omit<PlayMessage, 'from' | 'msgId'>;
    if (name !== 'send_message') {
      agent.tool(call.id, `${name} result`);
      return name !== 'wait_for_messages';
    }
    const message = { ...args, from: agent.name, msgId: newMsgId(), ...(args.type === 'result' && { status: 'ok' }) };
    agent.tool(call.id, `queued for ${args.to} as ${message.msgId}`);
    this.deliver(message);
    return args.type !== 'clarify' && args.type !== 'result';
  }

  private conclude(name: string, content: string): void {
    if (name === 'lead') {
      if (this.openTasks().length === 0) this.settle(content);
      return;
    }
    for (const inReplyTo of this.openTasks(name))
      this.deliver({ from: name, to: 'lead', type: 'result', status: 'ok', content, inReplyTo, msgId: newMsgId() });
  }

  private openTasks(of?: string): string[] {
    const closed = new Set(this.ledger.filter(({ type }) => type === 'result').map(({ inReplyTo }) => inReplyTo));
    return this.ledger
      .filter(({ from, to, type }) => from === 'lead' && ['task', 'revision'].includes(type) && (of ?? to) === to)
      .map(({ msgId }) => msgId)
      .filter((msgId) => !closed.has(msgId));
  }

  private hasWakingMail(name: string): boolean {
    return (this.inboxes.get(name) ?? []).some(({ type }) => type !== 'progress');
  }
}
