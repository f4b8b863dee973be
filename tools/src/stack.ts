import { resolve } from 'node:path';
import { environment } from './environment';
import { freePort } from './free-port';
import { type RunningProcess, startProcess } from './process-group';
import { type RunningRedis, startRedis } from './redis-launcher';

const ROOT = resolve(__dirname, '../..');

export interface StackOptions {
  /** How many gateways to start with. Default 1. */
  gateways?: number;
  /** How many workers to start with. Default 1. */
  workers?: number;
  /** A Redis to use; the caller stops it. Default: REDIS_URL, or one that is started and stopped with the stack. */
  redis?: RunningRedis;
  /** The base URL of a model. Default: OPENAI_BASE_URL, or the scripted model, started and stopped with the stack. */
  modelUrl?: string;
  /** Variables of the scripted model, for example RULES or LATENCY_MS. */
  modelEnv?: Record<string, string | undefined>;
  /** Further variables for gateways and workers. */
  env?: Record<string, string | undefined>;
  /** The port of the first gateway. Default: a free one. */
  port?: number;
}

/** A process with an HTTP address, without a slash at the end. */
export interface RunningServer extends RunningProcess {
  readonly url: string;
}

/** The platform as real processes on 127.0.0.1. */
export interface Stack {
  readonly redis: RunningRedis;
  /** Undefined when a model was given. */
  readonly model: RunningServer | undefined;
  readonly gateways: readonly RunningServer[];
  readonly workers: readonly RunningServer[];
  startGateway(env?: Record<string, string | undefined>): Promise<RunningServer>;
  startWorker(env?: Record<string, string | undefined>): Promise<RunningServer>;
  /** Ends everything that was started: workers and gateways first, then model and Redis. */
  stop(): Promise<void>;
}

/**
 * Starts Redis, a scripted model, gateways and workers from their builds and waits until all are ready. When one does
 * not start, the others are stopped again.
 * @throws with the last lines of the process that did not start
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const gateways: RunningServer[] = [];
  const workers: RunningServer[] = [];
  const redis = options.redis ?? (await startRedis());
  let model: RunningServer | undefined;
  const stop = async () => {
    await Promise.all([...workers, ...gateways].map((server) => server.stop()));
    await model?.stop();
    if (!options.redis) await redis.stop();
  };

  const shared = (): Record<string, string | undefined> => ({
    HOST: '127.0.0.1',
    REDIS_URL: redis.url,
    AGENTS_DIR: environment().agentsDir ?? resolve(ROOT, 'agents'),
    LOG_LEVEL: environment().logLevel ?? 'warn',
    ...(model && { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: 'scripted', OPENAI_MODEL: 'scripted' }),
    ...(options.modelUrl && { OPENAI_BASE_URL: options.modelUrl }),
    ...options.env,
  });
  const startGateway = async (env: Record<string, string | undefined> = {}, port?: number) => {
    const name = `gateway-${gateways.length + 1}`;
    const server = startServer({ name, app: 'gateway', portName: 'PORT', port, env: { ...shared(), ...env } });
    return keep(gateways, await server);
  };
  const startWorker = async (env: Record<string, string | undefined> = {}) => {
    const name = `worker-${workers.length + 1}`;
    const server = startServer({ name, app: 'worker', portName: 'WORKER_PORT', env: { ...shared(), ...env } });
    return keep(workers, await server);
  };

  try {
    if (!options.modelUrl && !environment().modelUrl) {
      const name = 'scripted-model';
      model = await startServer({ name, app: name, portName: 'PORT', health: '/health', env: options.modelEnv ?? {} });
    }
    // One after the other: names count up, and two cores are not faster with all at once.
    for (let n = 0; n < (options.gateways ?? 1); n++) await startGateway({}, n === 0 ? options.port : undefined);
    for (let n = 0; n < (options.workers ?? 1); n++) await startWorker();
  } catch (error) {
    await stop();
    throw error;
  }
  return { redis, model, gateways, workers, startGateway, startWorker, stop };
}

function keep<T>(list: T[], item: T): T {
  list.push(item);
  return item;
}

interface ServerOptions {
  name: string;
  app: 'gateway' | 'worker' | 'scripted-model';
  portName: 'PORT' | 'WORKER_PORT';
  port?: number | undefined;
  health?: string;
  env?: Record<string, string | undefined>;
}

async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { name, app, portName, health = '/health/ready' } = options;
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const running = await startProcess({
    name,
    entry: resolve(ROOT, `apps/${app}/dist/main.js`),
    env: { HOST: '127.0.0.1', PROCESS_NAME: name, ...options.env, [portName]: String(port) },
    readyUrl: `${url}${health}`,
  });
  return { ...running, url };
}
