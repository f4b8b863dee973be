import { z } from 'zod';
import { RulesError } from './rules-error';
import type { ScriptedModelOptions } from './start-scripted-model';

const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  HOST: z.string().default('127.0.0.1'),
  RULES: z.string().min(1).optional(),
  LATENCY_MS: z.coerce.number().int().min(0).default(0),
  RECORD: z.enum(['0', '1']).default('0'),
  RECORD_FILE: z.string().min(1).optional(),
});

/**
 * The settings of the server: `PORT` (4010), `HOST` (127.0.0.1), `RULES` (path of a YAML file), `LATENCY_MS` (0),
 * `RECORD` (1 keeps request bodies), `RECORD_FILE` (a file to append them to). Throws `RulesError` that names the variable.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): ScriptedModelOptions {
  const parsed = environment.safeParse(env);
  if (!parsed.success)
    throw new RulesError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  const { PORT, HOST, RULES, LATENCY_MS, RECORD, RECORD_FILE } = parsed.data;
  return {
    port: PORT,
    host: HOST,
    latencyMs: LATENCY_MS,
    record: RECORD === '1',
    ...(RULES && { rulesFile: RULES }),
    ...(RECORD_FILE && { recordFile: RECORD_FILE }),
  };
}
