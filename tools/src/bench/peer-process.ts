import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { within } from './clock';

/** A file of `processes/` as a process of its own. It ends when this process does. */
export interface PeerProcess {
  readonly pid: number;
  /** Sends it something, if given, and resolves with the next thing that it says. */
  next<T>(message?: object): Promise<T>;
  stop(): Promise<void>;
}

/** Starts it and waits until it says `ready`. Throws when it ends before. */
export async function startPeer(name: string, args: readonly string[]): Promise<PeerProcess> {
  const child = fork(resolve(__dirname, 'processes', `${name}.js`), args);
  const next = <T>(message?: object) => {
    const answer = nextMessage<T>(child, name);
    if (message) child.send(message);
    return answer;
  };
  await within(`${name} is ready`, next());
  return {
    pid: child.pid ?? 0,
    next,
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

function nextMessage<T>(child: ChildProcess, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`${name} ended with exit code ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}
