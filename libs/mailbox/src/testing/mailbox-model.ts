import { createHash } from 'node:crypto';
import { LEAD } from '@mailroom/contracts';

/** Activations without a commit that make an agent dead, in the model and in the session that it is compared with. */
export const MODEL_STRIKES = 2;

export interface ModelAgent {
  state: 'unloaded' | 'scheduled' | 'loaded' | 'dead';
  epoch: number;
  token: string;
  tail: 'idle' | 'model';
  mailbox: { id: string; wakes: boolean }[];
  read: string[];
  cancel: number;
  strikes: number;
  did: boolean;
  /** Cancel numbers that the activation saw at its last drain; undefined before its first. */
  seen: { session: number; agent: number } | undefined;
}

interface Question {
  from: string;
  to: string;
  read: boolean;
  ignored: number;
  open: boolean;
}

/** A message on its way into a mailbox; `byEngine` as in the scripts: the engine's own never count as an answer. */
interface Sent {
  id: string;
  from: string;
  to: string;
  type: string;
  byEngine?: boolean;
  mute?: boolean;
  task?: string;
  question?: string;
}

/** What a sub-agent or a lead does in one step. */
export interface ModelPlan {
  sends: Sent[];
  ends: 'goes on' | 'parks' | 'speaks';
}

/**
 * The protocol of a session as plain data and plain rules, for comparison with the scripts: the same commands must lead
 * to the same state. Leaves out sizes, times, budgets, tools and revisions, which have specs of their own.
 */
export class MailboxModel {
  isOpen = true;
  run = '';
  isWaiting = false;
  final = '';
  quiet = false;
  cancel = 0;
  notices = 0;
  readonly agents = new Map<string, ModelAgent>();
  readonly tasks = new Map<string, { to: string; read: boolean }>();
  readonly closed = new Set<string>();
  readonly questions = new Map<string, Question>();
  readonly dead: string[] = [];
  readonly accepted: string[] = [];

  constructor(
    readonly sessionId: string,
    subAgents: readonly string[],
  ) {
    for (const name of [LEAD, ...subAgents])
      this.agents.set(name, {
        state: 'unloaded',
        epoch: 0,
        token: '',
        tail: 'idle',
        mailbox: [],
        read: [],
        cancel: 0,
        strikes: 0,
        did: false,
        seen: undefined,
      });
  }

  agent(name: string): ModelAgent {
    return this.agents.get(name) as ModelAgent;
  }

  get subAgents(): string[] {
    return [...this.agents.keys()].filter((name) => name !== LEAD);
  }

  hasWork(name: string): boolean {
    const { tail, mailbox } = this.agent(name);
    const wants = tail !== 'idle' || mailbox.some(({ wakes }) => wakes);
    return this.isOpen && wants && (name !== LEAD || this.run !== '');
  }

  tasksOf(name: string, onlyRead = false): string[] {
    return [...this.tasks].filter(([, task]) => task.to === name && (task.read || !onlyRead)).map(([id]) => id);
  }

  openQuestions(matches: (question: Question) => boolean): string[] {
    return [...this.questions].filter(([, question]) => question.open && matches(question)).map(([id]) => id);
  }

  ask(id: string): void {
    this.run ||= `run_${id.slice(4)}`;
    this.deliver({ id, from: 'user', to: LEAD, type: 'task' });
  }

  claim(name: string, token: string): void {
    Object.assign(this.agent(name), { state: 'loaded', token, did: false, seen: undefined });
  }

  drain(name: string): void {
    const agent = this.agent(name);
    if (this.hasWork(name)) {
      for (const { id, wakes } of agent.mailbox.splice(0)) {
        agent.read.push(id);
        const [task, question] = [this.tasks.get(id), this.questions.get(id)];
        if (task) task.read = true;
        if (question) question.read = true;
        if (wakes && (task || !this.closed.has(id))) agent.tail = 'model';
      }
      if (name === LEAD && agent.tail === 'model') this.isWaiting = false;
    }
    agent.seen = { session: this.cancel, agent: agent.cancel };
  }

  isCancelled(name: string): boolean {
    const { seen, cancel } = this.agent(name);
    return seen?.session !== this.cancel || seen.agent !== cancel;
  }

  commit(name: string, plan: ModelPlan, number: number): void {
    const agent = this.agent(name);
    Object.assign(agent, { did: true, strikes: 0 });
    let isRefused = false;
    for (const sent of plan.sends) {
      if (this.final && sent.type === 'task') isRefused = true;
      else this.deliver(sent);
    }
    agent.tail = plan.ends !== 'goes on' && !isRefused ? 'idle' : 'model';
    if (plan.ends === 'speaks' && name !== LEAD) this.finish(name, number);
    const isDone = this.tasks.size === 0 && !agent.mailbox.some(({ wakes }) => wakes);
    if (plan.ends === 'speaks' && name === LEAD && this.run && isDone) this.settle();
    if (name === LEAD && this.run && agent.tail === 'idle') {
      for (const id of this.openQuestions((question) => question.to === LEAD && question.read)) {
        const question = this.questions.get(id);
        if (question && ++question.ignored >= 2) this.reply(id);
      }
      this.isWaiting ||= !this.hasWork(LEAD);
    }
    const waits = this.tasksOf(name).length > 0 || this.openQuestions(({ from }) => from === name).length > 0;
    if (name !== LEAD && !this.hasWork(name) && !waits) this.leave(name);
    this.checkQuiescence();
  }

  /** False: the agent has work and stays. */
  exit(name: string): boolean {
    if (this.hasWork(name)) return false;
    this.leave(name);
    this.checkQuiescence();
    return true;
  }

  handOver(name: string, isFailure: boolean): void {
    if (!this.hasWork(name)) this.leave(name);
    else if (!(isFailure && this.strike(name))) this.activate(name);
    this.checkQuiescence();
  }

  cancelRun(): void {
    if (!this.run) return;
    this.cancel++;
    this.cancelTeam(true);
    this.silence(LEAD);
    this.settle();
  }

  cancelAgent(name: string): void {
    for (const id of this.tasksOf(name)) this.result(id);
    this.silence(name);
    this.checkQuiescence();
  }

  missDeadline(name: string): void {
    for (const id of this.openQuestions(({ from }) => from === name)) this.reply(id);
    this.checkQuiescence();
  }

  /** The sweeper's new activation for one that got lost. */
  activate(name: string): void {
    const agent = this.agent(name);
    agent.state = 'scheduled';
    agent.epoch++;
  }

  exceedWaitBudget(): void {
    if (!this.isWaiting) return;
    this.conclude();
    this.checkQuiescence();
  }

  close(): void {
    this.cancel++;
    this.cancelTeam(true);
    this.silence(LEAD);
    if (this.run) this.settle();
    this.isOpen = false;
    for (const agent of this.agents.values()) agent.state = 'unloaded';
  }

  private deliver(sent: Sent): void {
    const { id, from, to, type, byEngine = false } = sent;
    const recipient = this.agent(to);
    this.accepted.push(id);
    if (type === 'task' && from === LEAD) this.tasks.set(id, { to, read: false });
    if (type === 'result') {
      this.tasks.delete(sent.task ?? '');
      this.closed.add(sent.task ?? '');
      this.withdraw(from);
    } else if (from === LEAD || type === 'clarify_resp') {
      for (const asked of this.openQuestions((q) => q.from === to && q.to === from)) this.questions.delete(asked);
    }
    if (type === 'clarify') this.questions.set(id, { from, to, read: false, ignored: 0, open: true });
    if (!byEngine && type !== 'progress' && type !== 'clarify') this.quiet = false;
    if (recipient.state === 'dead') {
      if (type !== 'task') {
        this.dead.push(id);
        if (type === 'clarify') this.reply(id);
        return;
      }
      Object.assign(recipient, { state: 'unloaded', strikes: 0 });
    }
    const wakes = type !== 'progress' && !sent.mute && (to !== LEAD || this.run !== '');
    recipient.mailbox.push({ id, wakes });
    if (recipient.state === 'unloaded' && this.hasWork(to)) this.activate(to);
  }

  private finish(name: string, number: number): void {
    const done = this.tasksOf(name, true);
    const peer = this.openQuestions((question) => question.to === name && question.read)[0];
    if (done.length > 0 && this.openQuestions(({ from, to }) => from === name && to === LEAD).length > 0) {
      const id = this.derivedId('progress', name, number);
      this.deliver({ id, from: name, to: LEAD, type: 'progress', byEngine: true });
    } else if (done.length > 0) {
      for (const id of done) this.result(id);
      this.quiet = false;
    } else if (peer !== undefined) {
      this.reply(peer);
      this.quiet = false;
    }
  }

  private result(task: string, mute = false): void {
    const from = this.tasks.get(task)?.to ?? '';
    this.deliver({ id: this.derivedId('result', task), from, to: LEAD, type: 'result', byEngine: true, task, mute });
  }

  private reply(id: string): void {
    const question = this.questions.get(id);
    if (!question?.open) return;
    const { from, to } = question;
    this.deliver({ id: this.derivedId('reply', id), from: to, to: from, type: 'clarify_resp', byEngine: true });
  }

  private withdraw(name: string): void {
    for (const id of this.openQuestions(({ from }) => from === name)) (this.questions.get(id) as Question).open = false;
  }

  private answerPeers(name: string): void {
    for (const id of this.openQuestions(({ to }) => to === name && name !== LEAD)) this.reply(id);
  }

  private leave(name: string): void {
    this.answerPeers(name);
    this.agent(name).state = 'unloaded';
  }

  private settle(): void {
    for (const [id, { to }] of this.questions) if (to === LEAD) this.questions.delete(id);
    Object.assign(this, { run: '', isWaiting: false, final: '', quiet: false });
  }

  private silence(name: string): void {
    const agent = this.agent(name);
    agent.read.push(...agent.mailbox.splice(0).map(({ id }) => id));
    agent.cancel++;
    agent.tail = 'idle';
    this.withdraw(name);
    this.answerPeers(name);
    if (agent.state === 'scheduled') agent.state = 'unloaded';
  }

  private cancelTeam(mute: boolean): void {
    for (const name of this.subAgents) this.withdraw(name);
    const busy = this.subAgents.filter((name) => {
      const { state } = this.agent(name);
      return state === 'loaded' || state === 'scheduled' || this.hasWork(name) || this.tasksOf(name).length > 0;
    });
    for (const id of [...this.tasks.keys()]) this.result(id, mute);
    for (const name of busy) this.silence(name);
  }

  private strike(name: string): boolean {
    const agent = this.agent(name);
    if (agent.did || ++agent.strikes < MODEL_STRIKES) return false;
    for (const id of this.tasksOf(name)) this.result(id);
    this.withdraw(name);
    this.answerPeers(name);
    this.dead.push(...agent.mailbox.splice(0).map(({ id }) => id));
    Object.assign(agent, { state: 'dead', tail: 'idle' });
    if (name === LEAD && this.run) {
      this.cancelTeam(true);
      this.settle();
    }
    return true;
  }

  private conclude(): void {
    if (this.final || !this.run) return;
    this.final = 'concluded';
    this.cancelTeam(false);
    const lead = this.agent(LEAD);
    lead.tail = 'model';
    if (lead.state === 'unloaded') this.activate(LEAD);
  }

  private checkQuiescence(): void {
    if (!this.isOpen || !this.run || !this.isWaiting || this.hasWork(LEAD)) return;
    const isBusy = (name: string) => ['scheduled', 'loaded'].includes(this.agent(name).state) || this.hasWork(name);
    if (this.subAgents.some(isBusy)) return;
    if (this.quiet) {
      this.conclude();
      return;
    }
    this.quiet = true;
    const id = this.derivedId('notice', ++this.notices);
    this.deliver({ id, from: 'system', to: LEAD, type: 'notice', byEngine: true });
  }

  /** As in the scripts: an engine-made message is made at most once. */
  private derivedId(...parts: (string | number)[]): string {
    return `msg_${createHash('sha1')
      .update([this.sessionId, ...parts].join('|'))
      .digest('hex')
      .slice(0, 12)}`;
  }
}
