import { spawn } from 'node:child_process';
import { childEnv } from './environment';
import { guardProcess, unguardProcess } from './orphan-guard';

/** How much of a process's output is kept. */
const KEPT_CHARACTERS = 256 * 1024;

export interface ProcessOptions {
  /** How messages and logs call it, for example `worker-1`. */
  name: string;
  /** The JavaScript file that Node runs. */
  entry: string;
  args?: readonly string[];
  /** Changes to this process's environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Ready when a GET of this URL answers 2xx … */
  readyUrl?: string;
  /** … or when the output contains this text. With neither the process counts as ready at once. */
  readyLine?: string;
  /** Default 60 s. */
  readyTimeoutMs?: number;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process; it ends with this process, however that ends. */
export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** The end of what it wrote to both of its outputs, at most 256 KiB. */
  output(): string;
  /** Asks it to end (default SIGTERM) and waits; after `graceMs` (default 20 s) it is killed. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<ProcessExit>;
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<ProcessExit>;
}

/**
 * Starts a Node process and waits until it is ready.
 * @throws with the last lines of its output when it ends before, or is not ready in time (then it is killed)
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { name, entry, args = [], readyUrl, readyLine, readyTimeoutMs = 60_000 } = options;
  // Detached: a Ctrl-C in the terminal goes to this process alone, which then stops its children in order.
  const child = spawn(process.execPath, [entry, ...args], {
    env: childEnv(options.env ?? {}),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (pid) {
    guardProcess(pid);
    child.once('exit', () => unguardProcess(pid));
  }

  let kept = '';
  const read = (chunk: string) => {
    kept = (kept + chunk).slice(-KEPT_CHARACTERS);
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);

  const signalled = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  const running: RunningProcess = {
    name,
    pid,
    exited,
    output: () => kept,
    kill: () => signalled('SIGKILL'),
    async stop(signal = 'SIGTERM', graceMs = 20_000) {
      const deadline = setTimeout(() => child.kill('SIGKILL'), graceMs);
      try {
        return await signalled(signal);
      } finally {
        clearTimeout(deadline);
      }
    },
  };

  const over = new AbortController();
  const late = setTimeout(() => over.abort(`was not ready after ${readyTimeoutMs / 1000} s`), readyTimeoutMs);
  void exited.then(({ code, signal }) => over.abort(`ended before it was ready (${signal ?? `exit code ${code}`})`));
  try {
    if (readyUrl) await answers(readyUrl, over.signal);
    else if (readyLine) await contains(child.stdout, () => kept.includes(readyLine), over.signal);
  } catch {
    await running.kill();
    // The last words may come after the end; a grandchild may hold the pipe open.
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
    const lines = kept.trim().split('\n').slice(-15).join('\n');
    throw new Error(`${name} ${over.signal.reason}${lines ? `; its last lines:\n${lines}` : ', without a word'}`);
  } finally {
    clearTimeout(late);
  }
  return running;
}

/** Asks again, soon at first and then four times a second, until the answer is 2xx. Rejects on abort. */
async function answers(url: string, signal: AbortSignal): Promise<void> {
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 250)) {
    signal.throwIfAborted();
    const response = await fetch(url, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Looks at every chunk until the condition holds. Rejects on abort. */
function contains(stream: NodeJS.ReadableStream, condition: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('data', () => condition() && resolve());
    signal.addEventListener('abort', () => (condition() ? resolve() : reject(signal.reason)), { once: true });
  });
}
