/** What the tools read from the environment; nothing else in this folder looks there. */
export interface Environment {
  /** A Redis to use instead of starting one. */
  redisUrl: string | undefined;
  /** The Redis of a test run. */
  testRedisUrl: string | undefined;
  /** The port of the first gateway of `npm start`. */
  port: number;
  /** A real model; unset: the scripted one is started. */
  modelUrl: string | undefined;
  /** The folder of the agents; unset: those that come with the project. */
  agentsDir: string | undefined;
  /** How much gateways and workers log; unset: warnings. */
  logLevel: string | undefined;
  /** Whether to colour what goes to standard output. */
  color: boolean;
  /** The search path for programs. */
  path: string;
}

/** @throws when PORT is no port */
export function environment(): Environment {
  const { REDIS_URL, TEST_REDIS_URL, PORT, OPENAI_BASE_URL, AGENTS_DIR, LOG_LEVEL, NO_COLOR, FORCE_COLOR, PATH } =
    process.env;
  const port = Number(PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`PORT is not a port number: ${PORT}`);
  return {
    redisUrl: REDIS_URL || undefined,
    testRedisUrl: TEST_REDIS_URL || undefined,
    port,
    modelUrl: OPENAI_BASE_URL || undefined,
    agentsDir: AGENTS_DIR || undefined,
    logLevel: LOG_LEVEL || undefined,
    color: !NO_COLOR && (Boolean(FORCE_COLOR) || process.stdout.isTTY === true),
    path: PATH ?? '',
  };
}

/** What the fault programme reads from the environment. Throws when SEED is no number. */
export function faultSettings(): { seed?: number; phases?: string[] } {
  const { SEED, PHASES } = process.env;
  const seed = Number(SEED);
  if (SEED && !Number.isSafeInteger(seed)) throw new Error(`SEED is not a whole number: ${SEED}`);
  return { ...(SEED && { seed }), ...(PHASES && { phases: PHASES.split(',') }) };
}

/** This process's variables for a child, with changes; `undefined` takes one away. */
export function childEnv(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes };
}

/** Passes the Redis of this test run on to Jest's worker processes. */
export function announceTestRedis(url: string): void {
  process.env.TEST_REDIS_URL = url;
}
