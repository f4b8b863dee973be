import type { AgentMessage, EventCode, OpenQuestion, OpenTask, SessionEvent } from '@mailroom/contracts';
import { EVENT_TYPES } from '@mailroom/contracts';

/** An instant as Redis scripts store it: milliseconds. */
export function isoTime(ms: string | number): string {
  return new Date(Number(ms)).toISOString();
}

/** A message as scripts store it. */
export function parseMessage(json: string): AgentMessage {
  const stored = JSON.parse(json) as Omit<AgentMessage, 'ts'> & { ts: number };
  return { ...stored, ts: isoTime(stored.ts) };
}

/** Task and question records of the session, as scripts write them. */
interface TaskRecord {
  to: string;
  from?: string;
  handoff?: string;
  run: string;
  at: number;
  no: number;
  read?: boolean;
  progress?: string;
}

interface QuestionRecord {
  from: string;
  to: string;
  root: string;
  at: number;
  no: number;
  st: 'open' | 'withdrawn';
}

export function toTasks(records: Record<string, TaskRecord>): OpenTask[] {
  return Object.entries(records)
    .sort(([, a], [, b]) => a.no - b.no)
    .map(([id, task]) => ({
      id,
      agentId: task.to,
      ...(task.from && { from: task.from }),
      ...(task.handoff && { handoffId: task.handoff }),
      runId: task.run,
      openedAt: isoTime(task.at),
      read: task.read === true,
      ...(task.progress && { progressId: task.progress }),
    }));
}

export function toQuestions(records: Record<string, QuestionRecord>): OpenQuestion[] {
  return Object.entries(records)
    .filter(([, question]) => question.st === 'open')
    .sort(([, a], [, b]) => a.no - b.no)
    .map(([id, question]) => ({
      id,
      from: question.from,
      to: question.to,
      ...(question.root && { taskId: question.root }),
      askedAt: isoTime(question.at),
    }));
}

const MESSAGE_EVENTS: readonly string[] = ['am', 'ar', 'ap', 'ac'];

/** One stream entry as the envelope that clients get. */
export function toEvent(sessionId: string, [id, flat]: [string, string[]]): SessionEvent {
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  const code = fields.c as EventCode;
  const data = JSON.parse(fields.d ?? '{}') as Record<string, unknown>;
  if (MESSAGE_EVENTS.includes(code)) data.ts = isoTime(data.ts as number);
  return {
    id,
    event: code,
    type: EVENT_TYPES[code],
    sessionId,
    ...(fields.r && { runId: fields.r }),
    ...(fields.a && { agentId: fields.a }),
    at: isoTime(id.slice(0, id.indexOf('-'))),
    data,
  };
}
