import { resolve } from 'node:path';
import type { AgentMessage, SessionEvent } from '@mailroom/contracts';
import { SessionClient, type Stack, type StackOptions, startStack } from '@mailroom/tools';

export const REQUEST = 'Make a Q2 competitive analysis report';

/** Rules of the scripted model that ship with it, by name. */
export function shippedRules(name: string): string {
  return resolve(__dirname, `../../apps/scripted-model/rules/${name}.yaml`);
}

/** Short times where expiry is the subject; everything else as in production. */
export function storyStack(options: StackOptions = {}): Promise<Stack> {
  return startStack({
    ...options,
    env: { REDIS_PREFIX: 'e2e', HEARTBEAT_TTL_MS: '3000', SWEEP_MS: '500', ...options.env },
  });
}

/** The events of a session until one matches, that one included; read from the gateway at `url`. */
export async function eventsUntil(
  url: string,
  sessionId: string,
  matches: (event: SessionEvent) => boolean,
  after?: string,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const stop = new AbortController();
  for await (const event of new SessionClient(url).events(sessionId, {
    signal: stop.signal,
    ...(after && { after }),
  })) {
    events.push(event);
    if (!matches(event)) continue;
    stop.abort();
    break;
  }
  return events;
}

export const isDone = (event: SessionEvent): boolean => event.event === 'done';

/** Messages among events, as the seed writes them: who → whom and the type. */
export function messagesOf(events: readonly SessionEvent[]): AgentMessage[] {
  return events
    .filter(({ event }) => ['am', 'ar', 'ap', 'ac'].includes(event))
    .map(({ data }) => data as unknown as AgentMessage);
}

/** Each message with the chain of those that it answers: `task lead→alice < clarify alice→lead < …`, oldest first. */
export function chains(messages: readonly AgentMessage[]): string[] {
  const byId = new Map(messages.map((message) => [message.msgId, message]));
  const chain = (message: AgentMessage): string => {
    const parent = message.inReplyTo === undefined ? undefined : byId.get(message.inReplyTo);
    return `${parent ? `${chain(parent)} < ` : ''}${message.type} ${message.from}→${message.to}`;
  };
  return messages.map(chain);
}

/** Calls the scripted model's own interface. */
export async function model(stack: Stack, method: 'GET' | 'POST', path: string): Promise<unknown> {
  const response = await fetch(`${stack.model?.url}${path}`, { method });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.status === 204 ? undefined : response.json();
}
