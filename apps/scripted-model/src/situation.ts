import type { ChatRequest } from './chat-request';
import { type Item, timelineItem } from './item';
import { readSeat } from './seat';
import { readFacts, readTimeline } from './timeline';

/** What the rules know of a request. */
export interface Situation {
  /** `other`: not a request of an agent session, for example a plain chat. */
  role: 'lead' | 'sub-agent' | 'other';
  /** The asking agent's address in its session; empty for `other`. */
  agent: string;
  /** Names of the offered tools. */
  tools: string[];
  /** Whom a lead may address or call; empty for everybody else. */
  roster: string[];
  /** It was called as a tool: it works alone and ends with a report. */
  called: boolean;
  /** Colleagues that may be called as tools: tool by name. */
  callees: ReadonlyMap<string, string>;
  /** The whole history, oldest first. */
  history: Item[];
  /** The part of the history since the request that is being worked on. */
  round: Item[];
  /** What came after the last answer of the model. */
  fresh: Item[];
  /** What is to be done: a lead's user mail of this round as one, a sub-agent's latest task or revision. */
  request: Item;
  /** Of a lead: tasks and revisions it has given in this round, refused ones included. */
  given: Item[];
  /** Of a lead: a given task has no result yet. Of a sub-agent: its task is not reported yet. */
  open: boolean;
  /** Unanswered `clarify` mail, oldest first, the latest of each sender. */
  questions: Item[];
  facts: string;
  /** All contents of the request, as one text. */
  text: string;
  /** Answers of the model in this round. */
  steps: number;
}

/** Reads a chat request as the situation of an agent of a Mailroom session. */
export function readSituation(request: ChatRequest): Situation {
  const { messages } = request;
  const { address: agent, called, callees } = readSeat(request);
  const role = agent === '' ? 'other' : agent === 'lead' ? 'lead' : 'sub-agent';
  const history = readTimeline(messages, callees);
  const facts = readFacts(messages);
  const start = role === 'sub-agent' ? subAgentStart(history) : leadStart(history, facts);
  const round = history.filter((item) => item.at >= start);
  const given = role === 'lead' ? round.filter(isGiven) : [];
  const work = requestOf(role, round);
  const answered = messages.findLastIndex((message) => message.role === 'assistant');
  return {
    role,
    agent,
    tools: request.tools.map((tool) => tool.function.name),
    roster: role === 'lead' ? rosterOf(request.tools, callees) : [],
    called,
    callees,
    history,
    round,
    fresh: history.filter((item) => item.at > answered),
    request: work,
    given,
    open: role === 'sub-agent' ? isUnreported(work, round) : given.some((task) => isOpen(task, round, facts)),
    questions: unanswered(role === 'sub-agent' ? history : round),
    facts: facts ?? '',
    text: messages.map((message) => message.content).join('\n'),
    steps: messages.filter((message, at) => message.role === 'assistant' && at >= start).length,
  };
}

/** The terminal result of a task that was given, if it is there. */
export function resultOf(task: Item, items: readonly Item[]): Item | undefined {
  return items.find((item) => isMail(item, 'result') && task.msgId !== '' && item.inReplyTo === task.msgId);
}

function isMail(item: Item, ...types: string[]): boolean {
  return item.kind === 'got' && types.includes(item.name);
}

function isGiven(item: Item): boolean {
  return item.kind === 'sent' && (item.name === 'task' || item.name === 'revision');
}

/** Facts outrank the history: a cancelled task has no result, but the facts do not list it any more. */
function isOpen(task: Item, items: readonly Item[], facts: string | undefined): boolean {
  if (task.msgId === '' || resultOf(task, items)) return false;
  return facts === undefined || facts.includes(task.msgId);
}

function subAgentStart(history: readonly Item[]): number {
  return history.findLast((item) => isMail(item, 'task', 'revision'))?.at ?? 0;
}

/**
 * A lead's round starts with the first user mail after its last final answer. A text while a task was open was no final
 * answer; a task that was cancelled ends the round that it belonged to once the user writes again.
 */
function leadStart(history: readonly Item[], facts: string | undefined): number {
  const given = history.filter(isGiven);
  const answers = history.filter(
    (item) =>
      item.kind === 'said' &&
      item.name === 'final' &&
      given.every((task) => task.at > item.at || !isOpen(task, before(history, item.at), undefined)),
  );
  const dead = given.filter((task) => {
    const result = resultOf(task, history);
    return result ? result.status === 'cancelled' : task.msgId !== '' && !isOpen(task, history, facts);
  });
  const users = history.filter((item) => isMail(item, 'task') && item.from === 'user').map((item) => item.at);
  const starts = [...answers, ...dead].map((end) => users.find((at) => at > end.at) ?? 0);
  return Math.max(0, users[0] ?? 0, ...starts);
}

function before(history: readonly Item[], at: number): Item[] {
  return history.filter((item) => item.at < at);
}

function requestOf(role: Situation['role'], round: readonly Item[]): Item {
  const mail =
    role === 'sub-agent'
      ? round.filter((item) => isMail(item, 'task', 'revision')).slice(-1)
      : round.filter((item) => isMail(item, 'task') && item.from === 'user');
  const last = mail.at(-1) ?? timelineItem({ kind: 'got', at: -1, name: 'task' });
  return { ...last, content: mail.map((item) => item.content).join('\n') };
}

function isUnreported(work: Item, round: readonly Item[]): boolean {
  const isReport = (item: Item) =>
    (item.kind === 'said' && item.name === 'final') ||
    (item.kind === 'sent' && item.name === 'result' && item.msgId !== '');
  return work.at >= 0 && !round.some((item) => item.at > work.at && isReport(item));
}

/** Any answer or new task to the asker closes its earlier questions; so does its own result. */
function unanswered(items: readonly Item[]): Item[] {
  return items.filter(
    (question, index) =>
      isMail(question, 'clarify') &&
      !items.slice(index + 1).some((later) => {
        if (later.kind === 'used') return later.name === 'answer_question' && later.inReplyTo === question.msgId;
        if (later.kind === 'sent')
          return later.to === question.from && ['clarify_resp', 'task', 'revision'].includes(later.name);
        return isMail(later, 'result', 'clarify') && later.from === question.from;
      }),
  );
}

function rosterOf(tools: ChatRequest['tools'], callees: ReadonlyMap<string, string>): string[] {
  const send = tools.find((tool) => tool.function.name === 'send_message');
  const properties = send?.function.parameters?.properties as { to?: { enum?: unknown } } | undefined;
  const names = properties?.to?.enum;
  const recipients = Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
  return [...new Set([...recipients, ...callees.keys()])];
}
