import type { Redis } from 'ioredis';
import { MailboxKeys } from './keys';
import type { Address } from './lease';

/** `mail`: look into the mailbox. `cancel`: drop what you do and look. `again`: the subscription was renewed, look. */
export type Wake = 'mail' | 'cancel' | 'again';

/** An agent that listens for its wake-ups. */
export interface Sleeper extends Address {
  onWake(wake: Wake): void;
}

/** An agent is kept as what it is: a function for each would be a tenth of what an idle agent takes. */
type Listener = ((payload: string) => void) | Sleeper;

/**
 * The one subscriber connection of a process. Pub/sub is at most once: whoever listens looks into Redis again after
 * `again`, and also now and then without any hint.
 */
export class Notifications {
  private readonly keys: MailboxKeys;
  private readonly channels = new Map<string, { ready: Promise<unknown>; listeners: Set<Listener> }>();

  constructor(
    private readonly subscriber: Redis,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
    subscriber.on('smessage', (channel: string, payload: string) => {
      for (const listener of this.channels.get(channel)?.listeners ?? []) tell(listener, payload);
    });
    // What was published while the connection was away is gone, so listeners look only after the new subscription stands.
    subscriber.on('ready', () => {
      for (const [channel, { listeners }] of this.channels)
        subscriber.ssubscribe(channel).then(
          () => {
            for (const listener of listeners) tell(listener, '');
          },
          () => undefined,
        );
    });
  }

  /** Resolves when wake-ups of the agent can no longer be missed. */
  listen(sleeper: Sleeper): Promise<void> {
    return this.subscribe(this.keys.notifyChannel(sleeper.sessionId), sleeper);
  }

  /** Ends `listen`, also one that has failed. */
  ignore(sleeper: Sleeper): void {
    this.unsubscribe(this.keys.notifyChannel(sleeper.sessionId), sleeper);
  }

  /** Resolves when growth of the session's event stream can no longer be missed. The returned function ends it. */
  onEvents(sessionId: string, listener: () => void): Promise<() => void> {
    return this.follow(this.keys.eventsChannel(sessionId), listener);
  }

  /** Resolves when the end of a run can no longer be missed; the listener also hears of renewed subscriptions. */
  onSettled(sessionId: string, listener: () => void): Promise<() => void> {
    return this.follow(this.keys.runsChannel(sessionId), listener);
  }

  private async follow(channel: string, listener: Listener): Promise<() => void> {
    await this.subscribe(channel, listener);
    return () => this.unsubscribe(channel, listener);
  }

  private async subscribe(channel: string, listener: Listener): Promise<void> {
    let entry = this.channels.get(channel);
    if (!entry) {
      entry = { ready: this.subscriber.ssubscribe(channel), listeners: new Set() };
      this.channels.set(channel, entry);
    }
    entry.listeners.add(listener);
    try {
      await entry.ready;
    } catch (error) {
      this.unsubscribe(channel, listener);
      throw error;
    }
  }

  private unsubscribe(channel: string, listener: Listener): void {
    const listeners = this.channels.get(channel)?.listeners;
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.channels.delete(channel);
    this.subscriber.sunsubscribe(channel).catch(() => undefined);
  }
}

function tell(listener: Listener, payload: string): void {
  if (typeof listener === 'function') listener(payload);
  else if (payload === '') listener.onWake('again');
  else if (payload.slice(1) === listener.agent) listener.onWake(payload[0] === '!' ? 'cancel' : 'mail');
}
