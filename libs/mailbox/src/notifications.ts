import type { Redis } from 'ioredis';
import { MailboxKeys } from './keys';

/** `mail`: look into the mailbox. `cancel`: drop what you do and look. `again`: the subscription was renewed, look. */
export type Wake = 'mail' | 'cancel' | 'again';

type Listener = (payload: string) => void;

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
      for (const listener of this.channels.get(channel)?.listeners ?? []) listener(payload);
    });
    // What was published while the connection was away is gone, so listeners look only after the new subscription stands.
    subscriber.on('ready', () => {
      for (const [channel, { listeners }] of this.channels)
        subscriber.ssubscribe(channel).then(
          () => {
            for (const listener of listeners) listener('');
          },
          () => undefined,
        );
    });
  }

  /** Resolves when wake-ups of `agent` can no longer be missed. The returned function ends it. */
  onWake(sessionId: string, agent: string, listener: (wake: Wake) => void): Promise<() => void> {
    return this.listen(this.keys.notifyChannel(sessionId), (payload) => {
      if (payload === '') listener('again');
      else if (payload.slice(1) === agent) listener(payload[0] === '!' ? 'cancel' : 'mail');
    });
  }

  /** Resolves when growth of the session's event stream can no longer be missed. */
  onEvents(sessionId: string, listener: () => void): Promise<() => void> {
    return this.listen(this.keys.eventsChannel(sessionId), listener);
  }

  /** Resolves when the end of a run can no longer be missed; the listener also hears of renewed subscriptions. */
  onSettled(sessionId: string, listener: () => void): Promise<() => void> {
    return this.listen(this.keys.runsChannel(sessionId), listener);
  }

  private async listen(channel: string, listener: Listener): Promise<() => void> {
    let entry = this.channels.get(channel);
    if (!entry) {
      entry = { ready: this.subscriber.ssubscribe(channel), listeners: new Set() };
      this.channels.set(channel, entry);
    }
    const { ready, listeners } = entry;
    listeners.add(listener);
    const stop = () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.channels.get(channel)?.listeners !== listeners) return;
      this.channels.delete(channel);
      this.subscriber.sunsubscribe(channel).catch(() => undefined);
    };
    try {
      await ready;
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }
}
