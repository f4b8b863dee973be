import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../free-port';
import { type RunningProcess, startProcess } from '../process-group';
import { type RunningRedis, startRedis } from '../redis-launcher';
import type { Random } from './random';
import { TcpProxy } from './tcp-proxy';

/** The prefix of the product's keys. */
const PREFIX = 'faults';

/** What every process of the programme has: times so short that what takes minutes happens in seconds. */
const TEST_TIMES = {
  HEARTBEAT_TTL_MS: '1500',
  SWEEP_MS: '300',
  IDLE_TIMEOUT_MS: '1500',
  WAKE_WINDOW_MS: '50',
};

const ASSETS = resolve(__dirname, '../../faults');
const PLATFORM = resolve(__dirname, '../../..');

interface StartOptions {
  /** Where the process is to kill itself. */
  failpoint?: string;
  /** By how much its clock is wrong. */
  clockSkewMs?: number;
  env?: Record<string, string>;
}

/** A gateway or worker that is ended and started again under the same name, port and link. */
export interface Slot {
  readonly name: string;
  readonly app: 'gateway' | 'worker';
  readonly url: string;
  readonly link: TcpProxy;
  /** The process of now; undefined while there is none. */
  readonly process: RunningProcess | undefined;
  /** How many processes it has had. */
  readonly started: number;
  start(options?: StartOptions): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with how it ended and how long that took. */
  stop(): Promise<{ code: number | null; ms: number }>;
  /** SIGSTOP and SIGCONT. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resident memory in bytes, 0 while there is no process. */
  memory(): number;
}

/** The platform as real processes, each with a link of its own to Redis, and all that they write down. */
export interface FaultStand {
  readonly redis: RunningRedis;
  /** The folder of the append-only file. */
  readonly redisDir: string;
  readonly slots: readonly Slot[];
  readonly gateways: readonly Slot[];
  readonly workers: readonly Slot[];
  /** The folder of the histories: `<slot>.jsonl`, `effects.jsonl`, `model.jsonl`. */
  readonly histories: string;
  /** All links whole, all processes running and awake. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export interface FaultStandOptions {
  /** The folder for histories and Redis; exists. */
  dir: string;
  random: Random;
  /** The folder of the platform to run: this project, or a changed copy of its builds. */
  platform?: string;
  gateways?: number;
  workers?: number;
}

/** Starts everything and waits until it is ready. */
export async function startFaultStand(options: FaultStandOptions): Promise<FaultStand> {
  const { dir, random, platform = PLATFORM } = options;
  const redisDir = join(dir, 'redis');
  const redis = await startRedis({ url: undefined, appendonly: true, dir: redisDir });
  const modelPort = await freePort();
  const model = await startProcess({
    name: 'scripted-model',
    entry: join(PLATFORM, 'apps/scripted-model/dist/main.js'),
    env: {
      HOST: '127.0.0.1',
      PORT: String(modelPort),
      RULES: join(ASSETS, 'rules.yaml'),
      LATENCY_MS: '60',
      RECORD_FILE: join(dir, 'model.jsonl'),
    },
    readyUrl: `http://127.0.0.1:${modelPort}/health`,
  });
  const env = {
    ...TEST_TIMES,
    HOST: '127.0.0.1',
    REDIS_PREFIX: PREFIX,
    LOG_LEVEL: 'warn',
    AGENTS_DIR: join(ASSETS, 'agents'),
    OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    OPENAI_API_KEY: 'scripted',
    OPENAI_MODEL: 'scripted',
    EFFECT_LOG: join(dir, 'effects.jsonl'),
  };
  const slot = async (app: Slot['app'], number: number) => {
    const link = await TcpProxy.start(Number(new URL(redis.url).port), random.named(`${app}-${number}`));
    const port = await freePort();
    return new ProcessSlot({ name: `${app}-${number}`, app, port, link, platform, dir, env });
  };
  const gateways: ProcessSlot[] = [];
  const workers: ProcessSlot[] = [];
  const slots = () => [...gateways, ...workers];
  const stop = async () => {
    await Promise.all(slots().map((each) => each.kill()));
    await Promise.all(slots().map((each) => each.link.close()));
    await model.kill();
    await redis.stop();
  };
  try {
    for (let n = 1; n <= (options.gateways ?? 2); n++) gateways.push(await slot('gateway', n));
    for (let n = 1; n <= (options.workers ?? 3); n++) workers.push(await slot('worker', n));
    // The first gateway publishes the agents.
    await Promise.all(slots().map((each) => each.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    redis,
    redisDir,
    gateways,
    workers,
    slots: slots(),
    histories: dir,
    async heal() {
      for (const each of slots()) each.link.set({});
      await Promise.all(slots().map((each) => each.heal()));
    },
    stop,
  };
}

interface SlotSettings {
  name: string;
  app: 'gateway' | 'worker';
  port: number;
  link: TcpProxy;
  platform: string;
  dir: string;
  env: Record<string, string>;
}

class ProcessSlot implements Slot {
  process: RunningProcess | undefined;
  started = 0;
  private isSound = true;
  private starting: Promise<void> | undefined;

  constructor(private readonly settings: SlotSettings) {}

  get name(): string {
    return this.settings.name;
  }

  get app(): Slot['app'] {
    return this.settings.app;
  }

  get url(): string {
    return `http://127.0.0.1:${this.settings.port}`;
  }

  get link(): TcpProxy {
    return this.settings.link;
  }

  start(options: StartOptions = {}): Promise<void> {
    this.starting = this.launch(options).finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  async kill(): Promise<void> {
    await this.starting?.catch(() => undefined);
    await this.process?.kill();
    this.process = undefined;
  }

  async stop(): Promise<{ code: number | null; ms: number }> {
    await this.starting?.catch(() => undefined);
    const before = performance.now();
    const exit = await this.process?.stop();
    this.process = undefined;
    return { code: exit?.code ?? null, ms: performance.now() - before };
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.process) process.kill(this.process.pid, signal);
  }

  memory(): number {
    if (!this.process) return 0;
    try {
      const pages = Number(readFileSync(`/proc/${this.process.pid}/statm`, 'utf8').split(' ')[1]);
      return pages * 4_096;
    } catch {
      return 0;
    }
  }

  /** Runs, awake, without failpoint and with the right time. */
  async heal(): Promise<void> {
    await this.starting?.catch(() => undefined);
    this.signal('SIGCONT');
    if (this.process && !this.isSound) await this.kill();
    if (!this.process) await this.start();
  }

  private async launch({ failpoint, clockSkewMs, env }: StartOptions): Promise<void> {
    const { name, app, port, platform, dir } = this.settings;
    this.started++;
    this.isSound = failpoint === undefined && clockSkewMs === undefined && env === undefined;
    const running = await startProcess({
      name: `${name}.${this.started}`,
      entry: join(platform, `apps/${app}/dist/main.js`),
      env: {
        ...this.settings.env,
        [app === 'gateway' ? 'PORT' : 'WORKER_PORT']: String(port),
        PROCESS_NAME: `${name}.${this.started}`,
        REDIS_URL: this.link.url,
        HISTORY_FILE: join(dir, `${name}.jsonl`),
        ...(failpoint && { FAILPOINT: failpoint }),
        ...(clockSkewMs !== undefined && {
          NODE_OPTIONS: `--require ${join(ASSETS, 'clock-skew.cjs')}`,
          CLOCK_SKEW_MS: String(clockSkewMs),
        }),
        ...env,
      },
      readyUrl: `${this.url}/health/ready`,
      readyTimeoutMs: 20_000,
    });
    this.process = running;
    void running.exited.then(() => {
      if (this.process === running) this.process = undefined;
    });
  }
}
