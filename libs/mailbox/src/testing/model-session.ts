import { LEAD } from '@mailroom/contracts';
import { connect } from '../connection';
import { RedisMailbox } from '../redis-mailbox';
import { BenchSession } from './bench-session';
import type { LoadedAgent } from './loaded-agent';
import { type MailboxModel, MODEL_STRIKES } from './mailbox-model';

/** The session on real Redis that a model is compared with, and what its processes hold. */
export class ModelSession {
  /** Activations that a process holds, by agent. */
  readonly loaded = new Map<string, LoadedAgent>();
  /** Activations of processes that do not know yet that they lost them. */
  readonly zombies: LoadedAgent[] = [];
  /** Ids of accepted user messages. */
  readonly asked: string[] = [];
  /** While true, every script is sent twice, as after a lost reply. */
  resends = false;
  private sent = 0;

  private constructor(
    readonly bench: BenchSession,
    /** The port over a connection of its own, for real races. */
    readonly rival: RedisMailbox,
    private readonly closeRival: () => void,
  ) {
    const evalsha = bench.redis.evalsha.bind(bench.redis) as (...args: unknown[]) => Promise<unknown>;
    bench.redis.evalsha = (async (...args: unknown[]) => {
      if (this.resends) await evalsha(...args);
      return evalsha(...args);
    }) as never;
  }

  static async open(redis: { url: string; prefix: string }): Promise<ModelSession> {
    const bench = await BenchSession.open({ redis, settings: { strikes: MODEL_STRIKES, callLimit: 100_000 } });
    const connection = connect({ url: redis.url, name: 'rival', mood: 'patient' });
    const rival = new RedisMailbox(connection, {
      prefix: redis.prefix,
      activate: (job) => bench.activations.push(job),
    });
    return new ModelSession(bench, rival, () => connection.disconnect());
  }

  async close(): Promise<void> {
    this.closeRival();
    await this.bench.close();
  }

  nextId(): string {
    return `msg_${(++this.sent).toString(16).padStart(12, '0')}`;
  }

  /** Forgets what is not loaded any more; its process does not know. */
  retire(model: MailboxModel): void {
    for (const [name, agent] of this.loaded)
      if (model.agent(name).state !== 'loaded') {
        this.loaded.delete(name);
        this.zombies.push(agent);
      }
  }

  /** Compares all that Redis holds with the model, and checks what must hold whatever the model says. */
  async verify(model: MailboxModel): Promise<void> {
    const { bench } = this;
    const names = [...model.agents.keys()];
    const [session, tasks, questions, dead, messages, due, ...agents] = await Promise.all([
      bench.session(),
      bench.records('tasks'),
      bench.records('questions'),
      bench.deadLetters(),
      bench.messages(),
      bench.redis.zrange(bench.dueKey, '0', '-1'),
      ...names.map(async (name) => ({
        name,
        fields: await bench.agent(name),
        mail: await bench.mail(name),
        read: await bench.read(name),
      })),
    ]);
    const isOpen = session.status === 'open';
    const stateOf = (fields: Record<string, string>) => fields.st ?? 'unloaded';

    expect({
      run: session.run ?? '',
      isWaiting: session.runStatus === 'waiting',
      isEnding: (session.final ?? '') !== '',
      tasks: Object.keys(tasks).sort(),
      questions: Object.entries(questions)
        .map(([id, json]) => `${id} ${(JSON.parse(json) as { st: string }).st}`)
        .sort(),
      dead,
      agents: agents.map(({ name, fields, mail, read }) => ({
        name,
        state: stateOf(fields),
        epoch: Number(fields.epoch ?? 0),
        token: fields.token ?? '',
        tail: fields.tail ?? 'idle',
        mail: mail.map((entry) => entry.slice(1)),
        read,
      })),
    }).toEqual({
      run: model.run,
      isWaiting: model.isWaiting,
      isEnding: model.final !== '',
      tasks: [...model.tasks.keys()].sort(),
      questions: [...model.questions].map(([id, { open }]) => `${id} ${open ? 'open' : 'withdrawn'}`).sort(),
      dead: model.dead,
      agents: [...model.agents].map(([name, { state, epoch, token, tail, mailbox, read }]) => ({
        name,
        state,
        epoch,
        token,
        tail,
        mail: mailbox.map(({ id }) => id),
        read,
      })),
    });

    // R3: every accepted message is in exactly one place.
    const places = [...dead, ...agents.flatMap(({ mail, read }) => [...read, ...mail.map((entry) => entry.slice(1))])];
    expect([...places].sort()).toEqual(messages.map(({ msgId }) => msgId).sort());
    expect(messages.map(({ msgId }) => msgId)).toEqual(model.accepted);

    // R2: order is kept per sender and recipient.
    const seqOf = new Map(messages.map(({ msgId, seq }) => [msgId, seq]));
    for (const { mail, read } of agents) {
      const seqs = [...read, ...mail.map((entry) => entry.slice(1))].map((id) => seqOf.get(id) ?? 0);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    }

    // R5: a task has one result when it is closed, and none while it is open.
    const ends = messages.filter(({ type, late }) => type === 'result' && !late).map(({ inReplyTo }) => inReplyTo);
    const given = messages.filter(({ type, from }) => type === 'task' && from === LEAD).map(({ msgId }) => msgId);
    expect([...ends, ...Object.keys(tasks)].sort()).toEqual([...given].sort());

    if (!isOpen) {
      expect(due).toEqual([]);
      return;
    }
    const has = (name: string, kind: string) => due.includes(`${bench.id}|${name}|${kind}`);
    const busy: string[] = [];
    for (const { name, fields, mail } of agents) {
      const state = stateOf(fields);
      const wakes = mail.some((entry) => entry.startsWith('w') || entry.startsWith('u'));
      const wants = wakes || (fields.tail ?? 'idle') !== 'idle';
      const hasWork = wants && (name !== LEAD || session.run !== '');
      if (hasWork || ['scheduled', 'loaded'].includes(state)) busy.push(hasWork ? `${name}!` : name);
      // No lost wake-up: whoever has work is loaded or on its way, and the sweeper knows of it.
      if (hasWork) expect([name, state]).toEqual([name, expect.stringMatching(/^(scheduled|loaded)$/)]);
      expect([name, state, has(name, 'job'), has(name, 'lease')]).toEqual([
        name,
        state,
        state === 'scheduled',
        state === 'loaded',
      ]);
      if (state === 'scheduled')
        expect(bench.activations).toContainEqual({ sessionId: bench.id, agent: name, epoch: Number(fields.epoch) });
    }
    // R15: a waiting run in which nobody works does not stay so; nobody's question stays without a deadline.
    const isQuiet = session.runStatus === 'waiting' && busy.every((name) => name === LEAD);
    expect(isQuiet).toBe(false);
    for (const json of Object.values(questions)) {
      const { from, st } = JSON.parse(json) as { from: string; st: string };
      if (st === 'open') expect([from, has(from, 'clarify')]).toEqual([from, true]);
    }
  }
}
