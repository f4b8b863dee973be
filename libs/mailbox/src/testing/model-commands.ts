import { LEAD } from '@mailroom/contracts';
import fc from 'fast-check';
import type { MailboxModel, ModelAgent, ModelPlan } from './mailbox-model';
import type { ModelSession } from './model-session';

type Command = fc.AsyncCommand<MailboxModel, ModelSession>;

/** A command under a name that tells its arguments; after each the two sides are compared. */
function command(
  label: string,
  check: (model: MailboxModel) => boolean,
  act: (model: MailboxModel, real: ModelSession) => Promise<void>,
): Command {
  return {
    check,
    async run(model, real) {
      await act(model, real);
      real.retire(model);
      await real.verify(model);
    },
    toString: () => label,
  };
}

const withState = (model: MailboxModel, state: ModelAgent['state']) =>
  [...model.agents].filter(([, agent]) => agent.state === state).map(([name]) => name);
/** One of the agents in a state, chosen by a number. */
const chosen = (model: MailboxModel, state: ModelAgent['state'], pick: number) => {
  const names = withState(model, state);
  return names[pick % names.length] ?? LEAD;
};
const any = (state: ModelAgent['state']) => (model: MailboxModel) => withState(model, state).length > 0;
const loadedIn = (real: ModelSession, name: string) => {
  const agent = real.loaded.get(name);
  if (!agent) throw new Error(`${name} is not held by a process`);
  return agent;
};
const codeOf = (write: Promise<unknown>) =>
  write.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );
/** Sends every script of the action twice. */
async function twice<T>(real: ModelSession, isTwice: boolean, act: () => Promise<T>): Promise<T> {
  real.resends = isTwice;
  try {
    return await act();
  } finally {
    real.resends = false;
  }
}

const ask = (again: boolean, isTwice: boolean) =>
  command(
    `ask(${again ? 'again' : 'new'}${isTwice ? ', twice' : ''})`,
    () => true,
    async (model, real) => {
      const old = again ? real.asked.at(-1) : undefined;
      const msgId = old ?? real.nextId();
      const code = await codeOf(twice(real, isTwice, () => real.bench.ask({ msgId })));
      expect(code).toBe(old === undefined && !model.isOpen ? 'session_closed' : 'ok');
      if (old !== undefined || !model.isOpen) return;
      real.asked.push(msgId);
      model.ask(msgId);
    },
  );

const claimInVain = (pick: number, how: 'stale' | 'resent') =>
  command(`claimInVain(${pick}, ${how})`, any(how === 'resent' ? 'loaded' : 'scheduled'), async (model, real) => {
    const { bench } = real;
    const name = chosen(model, how === 'resent' ? 'loaded' : 'scheduled', pick);
    const { epoch, token } = model.agent(name);
    const job = { sessionId: bench.id, agent: name, epoch: how === 'stale' ? epoch - 1 : epoch };
    const answer = await bench.mailbox.claim(job, {
      token: how === 'stale' ? 'stale' : token,
      host: 'host',
      leaseMs: 60_000,
    });
    expect(answer?.lease).toEqual(how === 'stale' ? undefined : { ...job, token });
  });

/** What an agent would do in a step, in numbers that mean something in any state. */
interface Wish {
  intents: { to: number; type: number }[];
  ends: ModelPlan['ends'];
}

/** The messages that an agent may send now, from numbers. */
function planOf(model: MailboxModel, real: ModelSession, name: string, { intents, ends }: Wish): ModelPlan {
  // A lead in its last step has no tools, so it cannot park.
  const plan: ModelPlan = { sends: [], ends: model.final && name === LEAD && ends === 'parks' ? 'speaks' : ends };
  if (plan.ends === 'speaks') return plan;
  for (const { to, type } of intents) {
    const others = [...model.agents.keys()].filter((other) => other !== name);
    const recipient = others[to % others.length] as string;
    const results = recipient === LEAD ? model.tasksOf(name, true).slice(0, 1) : [];
    const types = name === LEAD ? ['task', 'task', 'clarify_resp'] : ['clarify', 'progress', 'clarify_resp', 'result'];
    const wanted = types[type % types.length] as string;
    const isMeant = wanted === 'result' ? results.length > 0 : !(wanted === 'clarify_resp' && recipient === LEAD);
    const isFirst = wanted !== 'result' || !plan.sends.some((sent) => sent.type === 'result');
    if (!isMeant || !isFirst) continue;
    plan.sends.push({
      id: real.nextId(),
      from: name,
      to: recipient,
      type: wanted,
      ...(wanted === 'result' && { task: results[0] as string }),
    });
  }
  return plan;
}

const partOf = (name: string, { sends, ends }: ModelPlan) => ({
  sends: sends.map(({ id, to, type, task }) => ({
    callId: `c${id}`,
    msgId: id,
    to,
    type,
    content: type,
    ...(task !== undefined && { inReplyTo: task }),
  })),
  park: ends === 'parks' ? ('yes' as const) : ('no' as const),
  ...(ends === 'speaks' && name === LEAD && { settle: { status: 'completed' as const, force: false, text: 'said' } }),
  ...(ends === 'speaks' && name !== LEAD && { final: { status: 'ok' as const, force: false, text: 'said' } }),
});

const mayCommit = (model: MailboxModel) =>
  [...model.agents.values()].some(({ state, seen }) => state === 'loaded' && seen);

async function load(model: MailboxModel, real: ModelSession, name: string): Promise<void> {
  const token = `t${real.nextId()}`;
  real.loaded.set(name, await real.bench.load(name, token));
  model.claim(name, token);
}

async function drain(model: MailboxModel, real: ModelSession, name: string): Promise<void> {
  const inbox = await loadedIn(real, name).read();
  model.drain(name);
  expect([inbox.tail, inbox.work]).toEqual([model.agent(name).tail, model.hasWork(name)]);
}

async function commit(model: MailboxModel, real: ModelSession, name: string, plan: ModelPlan): Promise<void> {
  const loaded = loadedIn(real, name);
  const number = loaded.fence.n;
  const code = await codeOf(loaded.commit(partOf(name, plan)));
  expect(code).toBe(model.isCancelled(name) ? 'cancelled' : 'ok');
  if (code === 'ok') model.commit(name, plan, number);
}

async function exit(model: MailboxModel, real: ModelSession, name: string): Promise<void> {
  expect(await loadedIn(real, name).exit()).toBe(model.exit(name));
}

/** What a host does next with an agent: claim, drain, commit a step, or exit. */
const goOn = (pick: number, wish: Wish, isTwice: boolean) =>
  command(
    `goOn(${pick}, ${JSON.stringify(wish)}${isTwice ? ', twice' : ''})`,
    (model) => any('scheduled')(model) || any('loaded')(model),
    async (model, real) => {
      const names = [...withState(model, 'loaded'), ...withState(model, 'scheduled')];
      const name = names[pick % names.length] as string;
      const { state, seen, tail, mailbox } = model.agent(name);
      await twice(real, isTwice, () => {
        if (state === 'scheduled') return load(model, real, name);
        if (!seen || model.isCancelled(name) || (mailbox.length > 0 && model.hasWork(name)))
          return drain(model, real, name);
        if (tail === 'model') return commit(model, real, name, planOf(model, real, name, wish));
        return exit(model, real, name);
      });
    },
  );

const readAgain = (pick: number) =>
  command(`readAgain(${pick})`, any('loaded'), (model, real) => drain(model, real, chosen(model, 'loaded', pick)));

const leaveEarly = (pick: number) =>
  command(`leaveEarly(${pick})`, any('loaded'), (model, real) => exit(model, real, chosen(model, 'loaded', pick)));

/** A commit of an agent that has not looked first, with the right fence, a forged token, or a number too high. */
const commitBlindly = (pick: number, wish: Wish, how: 'right' | 'forged' | 'early') =>
  command(`commitBlindly(${pick}, ${JSON.stringify(wish)}, ${how})`, mayCommit, async (model, real) => {
    const names = withState(model, 'loaded').filter((name) => model.agent(name).seen);
    const name = names[pick % names.length] as string;
    const plan = planOf(model, real, name, wish);
    if (how === 'right' || model.isCancelled(name)) return commit(model, real, name, plan);
    const { fence } = loadedIn(real, name);
    const wrong = how === 'forged' ? { ...fence, token: 'forged' } : { ...fence, n: fence.n + 1 };
    const part = { entries: [], events: [], ...partOf(name, plan) };
    expect(await codeOf(real.bench.mailbox.commit(wrong, part))).toBe(how === 'forged' ? 'lease_lost' : 'out_of_step');
  });

const exitRacingSend = (pick: number) =>
  command(`exitRacingSend(${pick})`, any('loaded'), async (model, real) => {
    const name = chosen(model, 'loaded', pick);
    const msgId = real.nextId();
    const letter = { from: 'user', to: LEAD, type: 'task', content: 'task of user', msgId };
    const before = model.accepted.length;
    const [hasLeft] = await Promise.all([loadedIn(real, name).exit(), real.rival.send(real.bench.id, letter)]);
    real.asked.push(msgId);
    // A lead that left, and an agent whose exit sent a message, did so before the question came.
    const isAskFirst = name === LEAD ? !hasLeft : (await real.bench.messages())[before]?.msgId === msgId;
    if (isAskFirst) model.ask(msgId);
    expect(hasLeft).toBe(model.exit(name));
    if (!isAskFirst) model.ask(msgId);
  });

const release = (pick: number, reason: 'released' | 'evicted' | 'error', isTwice: boolean) =>
  command(`release(${pick}, ${reason}${isTwice ? ', twice' : ''})`, any('loaded'), async (model, real) => {
    const name = chosen(model, 'loaded', pick);
    await twice(real, isTwice, () => loadedIn(real, name).release(reason));
    model.handOver(name, reason === 'error');
  });

const loseLease = (pick: number) =>
  command(`loseLease(${pick})`, any('loaded'), async (model, real) => {
    const name = chosen(model, 'loaded', pick);
    await real.bench.fire(name, 'lease');
    model.handOver(name, true);
  });

const zombieWrites = (pick: number) =>
  command(
    `zombieWrites(${pick})`,
    () => true,
    async (model, real) => {
      const zombie = real.zombies[pick % Math.max(real.zombies.length, 1)];
      if (!zombie?.inbox) return;
      const refused = model.isOpen ? 'lease_lost' : 'session_closed';
      expect(await codeOf(zombie.commit({ park: 'yes' }))).toBe(refused);
      expect(await codeOf(real.bench.mailbox.emit(zombie.fence, 99, [{ code: 't', data: {} }]))).toBe(refused);
      expect(await codeOf(real.bench.mailbox.readInbox(zombie.lease, 0))).toBe(refused);
    },
  );

const sweepJob = (pick: number, state: 'missing' | 'waiting' | 'active') =>
  command(`sweepJob(${pick}, ${state})`, any('scheduled'), async (model, real) => {
    const name = chosen(model, 'scheduled', pick);
    await real.bench.fire(name, 'job', { epoch: model.agent(name).epoch, state });
    if (state === 'missing') model.activate(name);
  });

const missDeadline = (pick: number) =>
  command(
    `missDeadline(${pick})`,
    ({ isOpen }) => isOpen,
    async (model, real) => {
      const name = model.subAgents[pick % model.subAgents.length] as string;
      for (const id of model.openQuestions(({ from }) => from === name)) await real.bench.age('questions', id);
      await real.bench.fire(name, 'clarify');
      model.missDeadline(name);
    },
  );

const waitTooLong = () =>
  command(
    'waitTooLong()',
    ({ isOpen, isWaiting }) => isOpen && isWaiting,
    async (model, real) => {
      await real.bench.setSession('progressAt', 0);
      await real.bench.fire(LEAD, 'wait');
      model.exceedWaitBudget();
    },
  );

const cancel = (pick: number, isTwice: boolean) =>
  command(
    `cancel(${pick}${isTwice ? ', twice' : ''})`,
    ({ isOpen }) => isOpen,
    async (model, real) => {
      const name = [...model.agents.keys()][pick % model.agents.size] as string;
      const { mailbox, id } = real.bench;
      if (name === LEAD) {
        const runId = await twice(real, isTwice, () => mailbox.cancelRun(id, 'enough'));
        expect(runId ?? '').toBe(model.run);
        model.cancelRun();
      } else {
        await twice(real, isTwice, () => mailbox.cancelAgent(id, name, 'enough'));
        model.cancelAgent(name);
      }
    },
  );

const close = (isTwice: boolean) =>
  command(
    `close(${isTwice ? 'twice' : ''})`,
    ({ isOpen }) => isOpen,
    async (model, real) => {
      expect(await twice(real, isTwice, () => real.bench.mailbox.closeSession(real.bench.id))).toBe(true);
      model.close();
    },
  );

const flushScripts = () =>
  command(
    'flushScripts()',
    () => true,
    async (_, real) => {
      await real.bench.redis.script('FLUSH');
    },
  );

const number = fc.nat({ max: 11 });
const wish: fc.Arbitrary<Wish> = fc.record({
  intents: fc.array(fc.record({ to: number, type: number }), { maxLength: 3 }),
  ends: fc.constantFrom<ModelPlan['ends']>('goes on', 'parks', 'parks', 'speaks'),
});
const often = <T>(arbitrary: T, times: number) => Array<T>(times).fill(arbitrary);

/** What happens to an open session: the ordinary more often than faults. */
export const modelCommands: fc.Arbitrary<Command>[] = [
  ...often(
    fc.tuple(number, wish, fc.boolean()).map((args) => goOn(...args)),
    60,
  ),
  ...often(
    fc.tuple(fc.nat({ max: 3 }), fc.boolean()).map(([again, isTwice]) => ask(again === 0, isTwice)),
    8,
  ),
  ...often(number.map(exitRacingSend), 3),
  ...often(
    fc
      .tuple(number, wish, fc.constantFrom('right' as const, 'forged' as const, 'early' as const))
      .map((args) => commitBlindly(...args)),
    4,
  ),
  ...often(number.map(loseLease), 5),
  ...often(
    fc
      .tuple(number, fc.constantFrom('released' as const, 'evicted' as const, 'error' as const), fc.boolean())
      .map((args) => release(...args)),
    3,
  ),
  fc.tuple(number, fc.constantFrom('stale' as const, 'resent' as const)).map((args) => claimInVain(...args)),
  number.map(readAgain),
  number.map(leaveEarly),
  ...often(number.map(zombieWrites), 2),
  fc
    .tuple(number, fc.constantFrom('missing' as const, 'waiting' as const, 'active' as const))
    .map((args) => sweepJob(...args)),
  number.map(missDeadline),
  fc.constant(null).map(waitTooLong),
  fc.tuple(number, fc.boolean()).map((args) => cancel(...args)),
  fc.constant(null).map(flushScripts),
];

/** The end of every history: the session is closed, and nothing more can happen to it. */
export const endOfSession: readonly Command[] = [close(true), ask(false, false), ask(true, false), zombieWrites(0)];
