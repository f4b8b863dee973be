import type { AgentMessage, JournalEntry } from '@mailroom/contracts';
import { LEAD } from '@mailroom/contracts';
import type { BenchSession } from './bench-session';

/** A handoff as the scripts keep it while it is open. */
interface StoredHandoff {
  caller: string;
  /** Empty while nobody waits for it. */
  callId: string;
  to: string;
  timeoutMs: number;
  /** Open task of the attempt; absent while the call waits for an earlier one of the same agent. */
  task?: string;
}

interface StoredTask {
  to: string;
  from?: string;
  handoff?: string;
}

/** One agent of the session as Redis has it. */
export interface SeenAgent {
  name: string;
  state: string;
  tail: string;
  epoch: number;
  wakes: boolean;
  calls: string[];
  handed: Record<string, string>;
  mail: string[];
  journal: JournalEntry[];
}

/** All that Redis holds of a session with handoffs. */
export interface SeenSession {
  fields: Record<string, string>;
  agents: SeenAgent[];
  handoffs: Map<string, StoredHandoff>;
  tasks: Map<string, StoredTask>;
  questions: Map<string, { from: string; to: string; st: string }>;
  live: string[];
  dead: string[];
  messages: AgentMessage[];
  due: string[];
}

/** Reads the session, with every address that ever was in it. */
export async function seeSession(bench: BenchSession): Promise<SeenSession> {
  const [fields, handoffs, tasks, questions, instances, live, dead, messages, due] = await Promise.all([
    bench.session(),
    bench.records('handoffs'),
    bench.records('tasks'),
    bench.records('questions'),
    bench.records('instances'),
    bench.live(),
    bench.deadLetters(),
    bench.messages(),
    bench.redis.zrange(bench.dueKey, '0', '-1'),
  ]);
  const roster = (JSON.parse(fields.roster ?? '[]') as { as: string }[]).map(({ as }) => as);
  const names = [...new Set([LEAD, ...roster, ...Object.keys(instances)])];
  return {
    fields,
    agents: await Promise.all(names.map((name) => seeAgent(bench, name))),
    handoffs: parsed(handoffs),
    tasks: parsed(tasks),
    questions: parsed(questions),
    live,
    dead,
    messages,
    due: due.filter((member) => member.startsWith(`${bench.id}|`)).map((member) => member.slice(bench.id.length + 1)),
  };
}

async function seeAgent(bench: BenchSession, name: string): Promise<SeenAgent> {
  const [fields, mail, journal] = await Promise.all([bench.agent(name), bench.mail(name), bench.journal(name)]);
  return {
    name,
    state: fields.st ?? 'unloaded',
    tail: fields.tail ?? 'idle',
    epoch: Number(fields.epoch ?? 0),
    wakes: mail.some((entry) => entry.startsWith('w') || entry.startsWith('u')),
    calls: JSON.parse(fields.calls ?? '[]') as string[],
    handed: JSON.parse(fields.handed ?? '{}') as Record<string, string>,
    mail: mail.map((entry) => entry.slice(1)),
    journal,
  };
}

function parsed<T>(records: Record<string, string>): Map<string, T> {
  return new Map(Object.entries(records).map(([id, json]) => [id, JSON.parse(json) as T]));
}

/** What is wrong with a session, in words; nothing when all rules of handoffs hold. */
export function brokenRules(seen: SeenSession): string[] {
  return [
    ...brokenTails(seen),
    ...brokenRecords(seen),
    ...brokenPlaces(seen),
    ...brokenHistories(seen),
    ...brokenInstances(seen),
    ...brokenActivations(seen),
  ];
}

function brokenTails({ agents }: SeenSession): string[] {
  return agents.flatMap(({ name, tail, calls, handed }) => {
    const count = Object.keys(handed).length;
    const open = calls.length > 0 ? 'tools' : count > 0 ? 'handoff' : undefined;
    const fits = open ? tail === open : tail === 'model' || tail === 'idle';
    return fits ? [] : [`the tail of ${name} is ${tail} with ${calls.length} open calls and ${count} of colleagues`];
  });
}

/** Calls, handoffs and tasks name each other; one attempt per address at a time. */
function brokenRecords({ agents, handoffs, tasks, due }: SeenSession): string[] {
  const broken: string[] = [];
  for (const { name, handed } of agents)
    for (const [callId, id] of Object.entries(handed)) {
      const handoff = handoffs.get(id);
      if (handoff?.caller !== name || handoff.callId !== callId)
        broken.push(`call ${callId} of ${name} waits for nothing`);
    }
  const running = new Map<string, number>();
  for (const [id, { caller, callId, to, task, timeoutMs }] of handoffs) {
    const holder = agents.find(({ name }) => name === caller);
    if (callId !== '' && holder?.handed[callId] !== id) broken.push(`nobody waits for handoff ${id} as it says`);
    if (!task) continue;
    running.set(to, (running.get(to) ?? 0) + 1);
    const record = tasks.get(task);
    if (record?.to !== to || record.handoff !== id) broken.push(`handoff ${id} to ${to} has no open task`);
    if (due.includes(`${to}|handoff`) !== timeoutMs > 0) broken.push(`the limit of handoff ${id} is not kept`);
  }
  for (const [id, { to, handoff }] of tasks)
    if (handoff && handoffs.get(handoff)?.task !== id) broken.push(`task ${id} of ${to} belongs to no handoff`);
  for (const [to, count] of running) if (count > 1) broken.push(`${to} works on ${count} handoffs`);
  for (const [id, { to, task }] of handoffs)
    if (!task && !running.has(to)) broken.push(`handoff ${id} to ${to} never starts`);
  return broken;
}

/** R3: every accepted message is in one place; R5: every task has one result or is open. */
function brokenPlaces({ agents, dead, messages, tasks }: SeenSession): string[] {
  const places = [
    ...dead,
    ...agents.flatMap(({ mail, journal }) => [
      ...mail,
      ...journal.flatMap((entry) => ('ids' in entry ? entry.ids : [])),
    ]),
  ];
  const broken = messages
    .map(({ msgId, type, to }) => ({ msgId, type, to, count: places.filter((id) => id === msgId).length }))
    .filter(({ count }) => count !== 1)
    .map(({ msgId, type, to, count }) => `${type} ${msgId} to ${to} is in ${count} places`);
  for (const { msgId, type, from, to } of messages) {
    if (type !== 'task' || from === 'user') continue;
    const ends = messages.filter((m) => m.type === 'result' && !m.late && m.inReplyTo === msgId).length;
    const isOpen = tasks.has(msgId) ? 1 : 0;
    if (ends + isOpen !== 1) broken.push(`task ${msgId} to ${to} has ${ends} results and is open ${isOpen} times`);
  }
  return broken;
}

/** Every call of an answer has one result before the next model call. */
function brokenHistories({ agents }: SeenSession): string[] {
  const broken: string[] = [];
  for (const { name, tail, journal, calls, handed } of agents) {
    let open: string[] = [];
    const results = new Map<string, number>();
    const close = (isLast: boolean) => {
      for (const call of open) {
        const expected = isLast && (calls.includes(call) || call in handed) ? 0 : 1;
        const count = results.get(call) ?? 0;
        if (count !== expected) broken.push(`call ${call} of ${name} (${tail}) has ${count} results, not ${expected}`);
      }
    };
    for (const entry of journal) {
      if (entry.kind === 'assistant') {
        close(false);
        open = entry.toolCalls.map(({ id }) => id);
        results.clear();
      } else if (
        entry.kind === 'tool' ||
        entry.kind === 'sent' ||
        (entry.kind === 'handoff' && entry.outcome !== 'fallback')
      )
        results.set(entry.callId, (results.get(entry.callId) ?? 0) + 1);
    }
    close(true);
  }
  return broken;
}

/** Members of the session are exactly the instances that have something left to do. */
function brokenInstances({ agents, tasks, live }: SeenSession): string[] {
  const broken = new Set(live).size < live.length ? ['an instance is named twice'] : [];
  for (const { name, state } of agents) {
    if (!/[#/]/.test(name)) continue;
    const isHere =
      state === 'loaded' ||
      state === 'scheduled' ||
      [...tasks.values()].some(({ to, from }) => to === name || from === name);
    if (live.includes(name) !== isHere) broken.push(`${name} is ${state}, and ${isHere ? 'no' : 'still a'} member`);
  }
  return broken;
}

/** No wake-up is lost, and nobody waits for ever (R15). */
function brokenActivations({ agents, fields, due, questions }: SeenSession): string[] {
  const broken: string[] = [];
  const isBusy = (name: string, work: boolean, state: string) =>
    name !== LEAD ? work || state === 'loaded' || state === 'scheduled' : work;
  let busy = 0;
  for (const { name, state, tail, wakes } of agents) {
    const wants = tail === 'handoff' ? false : wakes || tail !== 'idle';
    const work = wants && (name !== LEAD || fields.run !== '');
    if (isBusy(name, work, state)) busy++;
    if (work && state !== 'loaded' && state !== 'scheduled') broken.push(`${name} has work and is ${state}`);
    if (due.includes(`${name}|job`) !== (state === 'scheduled'))
      broken.push(`${name} is ${state}: its job is not due so`);
    if (due.includes(`${name}|lease`) !== (state === 'loaded'))
      broken.push(`${name} is ${state}: its lease is not due so`);
  }
  if (fields.runStatus === 'waiting' && busy === 0) broken.push('the run waits and nobody works');
  for (const [id, { from, st }] of questions)
    if (st === 'open' && !due.includes(`${from}|clarify`)) broken.push(`question ${id} of ${from} has no deadline`);
  return broken;
}
