import { toAppError } from '@mailroom/contracts';
import { Failpoint } from './failpoint';
import { type Facts, History } from './history';

/** What a probe hears of one call of a method. */
export interface Action<Result> {
  /** The name in histories and failpoints. */
  op: string;
  facts: Facts;
  /** What the result adds to the facts. */
  told?: (result: Result) => Facts;
}

/** By method: how a call is told. A method that is not named is not watched. */
export type Actions<Port> = {
  [Method in keyof Port]?: Port[Method] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Action<Awaited<Result>>
    : never;
};

/** Where tests of faults look into a process: a history of what it does, and a place at which it dies. */
export interface ProbeSettings {
  /** See `Failpoint`. */
  failpoint?: string;
  /** The file of the history. */
  historyFile?: string;
}

/**
 * Watches the ports of one process. Without settings it is not there: `watch` gives back the port itself and `pass`
 * does nothing.
 */
export class Probe {
  private readonly failpoint: Failpoint | undefined;
  private readonly history: History | undefined;
  private count = 0;

  /** Throws `misconfigured` for a failpoint that is none. */
  constructor({ failpoint, historyFile }: ProbeSettings, host: string) {
    this.failpoint = failpoint === undefined ? undefined : Failpoint.parse(failpoint);
    this.history = historyFile === undefined ? undefined : new History(historyFile, host);
  }

  /** A failpoint of an action that no port has. */
  pass(edge: 'before' | 'after', op: string): void {
    this.failpoint?.pass(edge, op, undefined);
  }

  /** The port with its actions told. */
  watch<Port extends object>(port: Port, actions: Actions<NoInfer<Port>>): Port {
    if (!this.failpoint && !this.history) return port;
    const methods = actions as Record<string | symbol, ((...args: unknown[]) => Action<unknown>) | undefined>;
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const describe = methods[name];
        if (!describe) return value.bind(target);
        return (...args: unknown[]) => this.around(describe(...args), () => value.apply(target, args));
      },
    });
  }

  private async around(action: Action<unknown>, act: () => unknown): Promise<unknown> {
    const { op, facts, told } = action;
    const n = ++this.count;
    this.history?.write('invoke', op, n, facts);
    this.failpoint?.pass('before', op, facts.agent);
    try {
      const result = await act();
      this.history?.write('ok', op, n, { ...facts, ...told?.(result) });
      this.failpoint?.pass('after', op, facts.agent);
      return result;
    } catch (error) {
      this.history?.write('fail', op, n, { ...facts, code: toAppError(error).code });
      throw error;
    }
  }
}
