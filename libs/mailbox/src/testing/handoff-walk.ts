import { LEAD } from '@mailroom/contracts';
import { BenchSession } from './bench-session';
import { brokenRules, type SeenAgent, type SeenSession, seeSession } from './handoff-rules';
import type { LoadedAgent } from './loaded-agent';

/** A choice of what happens next, in numbers that mean something in any state. */
export interface Stride {
  /** Mostly what a host does next with an agent; sometimes what goes wrong. */
  kind: number;
  pick: number;
  wish: number;
  /** Every script of it is sent twice, as after a lost reply. */
  isTwice: boolean;
}

/** A session in which colleagues are called as tools, led by numbers; after each stride all rules are checked. */
export class HandoffWalk {
  readonly told: string[] = [];
  private readonly loaded = new Map<string, LoadedAgent>();
  private resends = false;
  private seen: SeenSession | undefined;

  private constructor(readonly bench: BenchSession) {
    const evalsha = bench.redis.evalsha.bind(bench.redis) as (...args: unknown[]) => Promise<unknown>;
    bench.redis.evalsha = (async (...args: unknown[]) => {
      if (this.resends) await evalsha(...args);
      return evalsha(...args);
    }) as never;
  }

  static async open(redis: { url: string; prefix: string }): Promise<HandoffWalk> {
    const settings = { strikes: 2, rounds: 2, callLimit: 100_000 };
    return new HandoffWalk(await BenchSession.open({ redis, settings }));
  }

  async go(stride: Stride): Promise<void> {
    const seen = this.seen ?? (await seeSession(this.bench));
    this.resends = stride.isTwice;
    this.told.push(await this.act(seen, stride));
    this.resends = false;
    this.seen = await seeSession(this.bench);
    const broken = brokenRules(this.seen);
    if (broken.length > 0) throw new Error(`${broken.join('\n')}\nafter\n${this.told.join('\n')}`);
  }

  /** Closes the session: no key of it stays for ever, and nothing of it is due. */
  async end(): Promise<void> {
    await this.bench.mailbox.closeSession(this.bench.id);
    const dump = await this.bench.dump();
    const forever = Object.entries(dump).filter(([key, { expires }]) => key.includes(this.bench.id) && !expires);
    const { due } = await seeSession(this.bench);
    const left = [...forever.map(([key]) => key), ...due];
    if (left.length > 0) throw new Error(`${left.join('\n')}\nleft after\n${this.told.join('\n')}`);
  }

  private act(seen: SeenSession, stride: Stride): Promise<string> {
    const { kind, pick, wish } = stride;
    const busy = seen.agents.filter(({ state }) => state === 'loaded' || state === 'scheduled');
    const loaded = busy.filter(({ state }) => state === 'loaded');
    const agent = busy[pick % busy.length];
    const holder = loaded[pick % loaded.length];
    const limits = seen.due.filter((member) => member.endsWith('|handoff')).map((member) => member.split('|')[0] ?? '');
    const [late, any] = [limits[pick % limits.length], seen.agents[pick % seen.agents.length] as SeenAgent];
    if (kind === 0 && late !== undefined) return this.fire(late, 'handoff');
    if (kind === 1 && holder) return this.fire(holder.name, 'lease');
    if (kind === 2 && holder) return this.release(holder.name, wish);
    if (kind === 3 && any.name !== LEAD) return this.cancelAgent(any.name);
    if (kind === 4 && wish % 3 === 0) return this.cancelRun();
    if (kind === 5) return this.missDeadlines(seen);
    if (kind === 6 && wish % 3 === 0 && seen.fields.runStatus === 'waiting') return this.waitTooLong();
    if (kind === 7 || !agent) return this.bench.ask().then(() => 'the user asks');
    return this.goOn(seen, agent, wish);
  }

  /** What a host does next: claim, look, one step, or exit. */
  private async goOn(seen: SeenSession, { name, state, tail, wakes, calls }: SeenAgent, wish: number): Promise<string> {
    if (state === 'scheduled') {
      this.loaded.set(name, await this.bench.load(name, `t${this.told.length}`));
      return `${name} is loaded`;
    }
    const agent = this.loaded.get(name) as LoadedAgent;
    const before = agent.inbox;
    const cancels = await this.bench.agent(name);
    const isCurrent =
      before?.fence.sessionCancel === Number(seen.fields.cancel) &&
      before.fence.agentCancel === Number(cancels.cancel ?? 0);
    if (!isCurrent || (wakes && tail !== 'handoff' && tail !== 'tools') || agent.fence.n !== Number(cancels.n ?? 0)) {
      await agent.read();
      return `${name} looks`;
    }
    if (tail === 'tools') return this.close(agent, calls[wish % calls.length] as string);
    if (tail !== 'model') return `${name} ${(await agent.exit()) ? 'leaves' : 'stays'}`;
    await agent.read();
    return name === LEAD ? this.lead(seen, agent, wish) : this.work(seen, agent, wish);
  }

  private async close(agent: LoadedAgent, callId: string): Promise<string> {
    await agent.commit({ entries: [{ kind: 'tool', callId, content: 'done' }], closes: callId });
    return `${agent.lease.agent} has the result of ${callId}`;
  }

  private async lead(seen: SeenSession, agent: LoadedAgent, wish: number): Promise<string> {
    const question = [...seen.questions].find(([, { to, st }]) => to === LEAD && st === 'open')?.[0];
    if (seen.fields.final !== '' || wish % 6 === 0) {
      await agent.say('an answer');
      return 'lead answers';
    }
    if (question !== undefined && wish % 6 !== 1) return this.answer(agent, question);
    if (wish % 6 === 2) {
      await agent.park();
      return 'lead parks';
    }
    const serial = agent.inbox?.step ?? 0;
    const choices = [
      ['bob'],
      ['bob', 'bob'],
      [`alice#${serial}`, 'bob'],
      [`alice#${serial}`, `bob#${serial}`],
      ['bob', 'bob', 'bob'],
    ];
    const open = wish % 5 === 0 ? ['own'] : [];
    return this.call(agent, choices[wish % choices.length] as string[], wish, open);
  }

  private async work(seen: SeenSession, agent: LoadedAgent, wish: number): Promise<string> {
    const { agent: name } = agent.lease;
    const caller = name.includes('/') ? (name.split('/')[0] as string) : LEAD;
    const question = [...seen.questions].find(([, { to, st }]) => to === name && st === 'open')?.[0];
    if (question !== undefined && wish % 4 !== 0) return this.answer(agent, question);
    const hasTask = [...seen.tasks.values()].some(({ to }) => to === name);
    if (!hasTask || wish % 8 === 0) {
      await agent.park();
      return `${name} parks`;
    }
    if (wish % 8 === 1 || wish % 8 === 2) {
      const task = [...seen.tasks].find(([, { to }]) => to === name)?.[0] as string;
      const { code } = await agent.send(caller, 'clarify', task, { park: 'if_done' });
      return `${name} asks ${caller}: ${code}`;
    }
    if (wish % 8 === 3) {
      await agent.fail(wish > 8 ? 'handoff_denied' : undefined);
      return `${name} fails`;
    }
    if (wish % 8 === 4 && !name.includes('/')) return this.call(agent, [`${name}/leaf`, `${name}/leaf`], wish, []);
    if (wish % 8 === 5 && !name.includes('/'))
      return this.call(agent, [`${name}/leaf#${agent.inbox?.step}`], wish, ['own']);
    await agent.say('a report', wish % 2 === 0);
    return `${name} reports`;
  }

  private async call(agent: LoadedAgent, to: string[], wish: number, open: string[]): Promise<string> {
    const terms = { max: 1 + (wish % 3), timeoutMs: wish % 2 === 0 ? 1_000_000 : 0, fallback: wish % 4 === 1 };
    const step = (agent.inbox?.step ?? 0) + 1;
    const own = open.map((id) => `${id}_${step}`);
    await agent.handOff(to, terms, own);
    return `${agent.lease.agent} calls ${to.join(', ')} with ${JSON.stringify(terms)}`;
  }

  private async answer(agent: LoadedAgent, question: string): Promise<string> {
    await agent.answer(question);
    return `${agent.lease.agent} answers ${question}`;
  }

  private async fire(name: string, kind: 'handoff' | 'lease'): Promise<string> {
    await this.bench.fire(name, kind);
    return `the ${kind} of ${name} runs out`;
  }

  private async release(name: string, wish: number): Promise<string> {
    const reason = (['released', 'evicted', 'error'] as const)[wish % 3] ?? 'released';
    await this.loaded.get(name)?.release(reason);
    return `${name} is ${reason}`;
  }

  private async cancelAgent(name: string): Promise<string> {
    const told = await this.bench.mailbox.cancelAgent(this.bench.id, name, 'enough').then(
      () => 'is cancelled',
      () => 'is not there',
    );
    return `${name} ${told}`;
  }

  private async cancelRun(): Promise<string> {
    await this.bench.mailbox.cancelRun(this.bench.id, 'enough');
    return 'the run is cancelled';
  }

  private async missDeadlines({ questions }: SeenSession): Promise<string> {
    for (const [id, { from, st }] of questions) {
      if (st !== 'open') continue;
      await this.bench.age('questions', id);
      await this.bench.fire(from, 'clarify');
    }
    return 'nobody answered in time';
  }

  private async waitTooLong(): Promise<string> {
    await this.bench.setSession('progressAt', 0);
    await this.bench.fire(LEAD, 'wait');
    return 'the run waited too long';
  }
}
