import { AppError, LIMITS } from '@mailroom/contracts';
import { type NodeSettings, nodeSettings, nodeVariables, readVariables, wholeNumber } from '@mailroom/hosting';
import type { SessionSettings } from '@mailroom/mailbox';
import { z } from 'zod';

const milliseconds = wholeNumber(1, 86_400_000);

const variables = z.object({
  ...nodeVariables,
  PORT: wholeNumber(0, 65_535).default(3000),
  AUTH_MODE: z.enum(['keys', 'none']).default('keys'),
  WAKE_WINDOW_MS: wholeNumber(0, 60_000).default(LIMITS.wakeWindowMs),
  WAIT_BUDGET_MS: milliseconds.default(LIMITS.waitBudgetMs),
  CLARIFY_DEADLINE_MS: milliseconds.default(LIMITS.clarifyMs),
});

export interface GatewayConfig {
  /** The address to listen on. */
  address: string;
  /** 0 takes a free one. */
  port: number;
  logLevel: string;
  /** The folder of the agents that come from files. */
  agentsDir: string;
  node: NodeSettings;
  /** Stored with each new session. */
  sessions: Pick<SessionSettings, 'windowMs' | 'waitBudgetMs' | 'clarifyMs'>;
  /** Silence on an event stream before a comment is sent. */
  ssePingMs: number;
}

/**
 * The settings of a gateway. Throws `misconfigured` with one line that names the variable and the reason, also when it
 * would be reachable from other machines without anybody having said that this is meant.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): GatewayConfig {
  const values = readVariables(variables, env);
  if (!isLoopback(values.HOST) && values.AUTH_MODE !== 'none')
    throw new AppError(
      'misconfigured',
      `HOST ${values.HOST} can be reached from other machines, and there are no API keys yet: listen on 127.0.0.1, or set AUTH_MODE=none where something else keeps strangers out`,
    );
  return {
    address: values.HOST,
    port: values.PORT,
    logLevel: values.LOG_LEVEL,
    agentsDir: values.AGENTS_DIR,
    node: nodeSettings('gateway', values),
    sessions: {
      windowMs: values.WAKE_WINDOW_MS,
      waitBudgetMs: values.WAIT_BUDGET_MS,
      clarifyMs: values.CLARIFY_DEADLINE_MS,
    },
    ssePingMs: LIMITS.ssePingMs,
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
