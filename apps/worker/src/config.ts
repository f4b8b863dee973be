import { type NodeSettings, nodeSettings, nodeVariables, readVariables, wholeNumber } from '@mailroom/hosting';
import { z } from 'zod';

const variables = z.object({ ...nodeVariables, WORKER_PORT: wholeNumber(0, 65_535).default(3001) });

export interface WorkerConfig {
  /** The address of the health port. */
  address: string;
  /** 0 takes a free one. */
  port: number;
  logLevel: string;
  node: NodeSettings;
}

/** The settings of a worker. Throws `misconfigured` with one line that names the variable and the reason. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const values = readVariables(variables, env);
  return {
    address: values.HOST,
    port: values.WORKER_PORT,
    logLevel: values.LOG_LEVEL,
    node: nodeSettings('worker', values),
  };
}
