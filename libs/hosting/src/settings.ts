import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AppError, LIMITS } from '@mailroom/contracts';
import type { OwnPrice } from '@mailroom/llm';
import { z } from 'zod';
import { readPriceFile } from './price-file';
import type { ProbeSettings } from './probe';
import type { TelemetrySettings } from './telemetry';

const DAY_MS = 86_400_000;

/** A variable that holds a whole number within bounds. */
export function wholeNumber(min: number, max: number) {
  const error = `has to be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error));
}

const milliseconds = wholeNumber(1, DAY_MS);

const httpUrl = z.string().refine((text) => /^https?:$/.test(schemeOf(text)), 'has to be an http or https address');

function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

/** The variables that gateways and workers share; each app adds its own to this shape. */
export const nodeVariables = {
  HOST: z.string().default('127.0.0.1'),
  PROCESS_NAME: z.string().max(64).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/./, 'has to begin with redis:// or rediss://')
    .default('redis://127.0.0.1:6379'),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'has 1 to 64 of the letters a-z, A-Z, 0-9, "_", "." and "-"')
    .default('mailroom'),
  OPENAI_BASE_URL: z.string().default('http://127.0.0.1:4010/v1'),
  OPENAI_API_KEY: z.string().default('scripted'),
  OPENAI_MODEL: z.string().default('scripted'),
  PRICES_FILE: z.string().optional(),
  MODEL_CONTEXT_WINDOW: wholeNumber(1_000, 100_000_000).optional(),
  AGENTS_DIR: z.string().default('./agents'),
  DOCUMENTS_DIR: z.string().optional(),
  WORKER_CAPACITY: wholeNumber(1, 100_000).default(LIMITS.workerCapacity),
  IDLE_TIMEOUT_MS: milliseconds.default(LIMITS.idleMs),
  MODEL_SILENCE_MS: milliseconds.default(LIMITS.modelSilenceMs),
  MODEL_CALL_MS: milliseconds.default(LIMITS.modelCallMs),
  HEARTBEAT_TTL_MS: wholeNumber(100, DAY_MS).default(LIMITS.leaseMs),
  MAX_COLLABORATION_DEPTH: wholeNumber(0, 16).default(LIMITS.collaborationDepth),
  SWEEP_MS: wholeNumber(50, DAY_MS).default(LIMITS.sweepMs),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_SDK_DISABLED: z.string().optional(),
  FAILPOINT: z.string().optional(),
  HISTORY_FILE: z.string().optional(),
  EFFECT_LOG: z.string().optional(),
} as const;
type NodeVariables = z.output<z.ZodObject<typeof nodeVariables>>;

/** What a process that hosts agents has to know. Times are milliseconds. */
export interface NodeSettings {
  /** Names process and machine in events and logs. */
  host: string;
  redisUrl: string;
  redisPrefix: string;
  openAi: { baseUrl: string; apiKey: string };
  /** Model of agents that name none. */
  model: string;
  /** Tokens that this model takes; what is known of it when absent. */
  contextWindow?: number;
  /** Own prices of models, by name. */
  prices: Record<string, OwnPrice>;
  /** The folder that the tool `lookup` searches; without one there is no such tool. */
  documentsDir?: string;
  /** Agents that the process hosts. */
  capacity: number;
  idleMs: number;
  modelSilenceMs: number;
  modelCallMs: number;
  leaseMs: number;
  sweepMs: number;
  /** Layers of handoffs below a lead. */
  depthCap: number;
  /** Where traces go; absent: nowhere. */
  telemetry?: TelemetrySettings;
  /** Empty but in tests of faults. */
  probe: ProbeSettings;
  /** The file of the tools with which tests of faults count effects; without one there are no such tools. */
  effectLog?: string;
}

/** `app` names the process when PROCESS_NAME does not: `gateway-4711`. Throws `misconfigured` for a bad price file. */
export function nodeSettings(app: string, variables: NodeVariables): NodeSettings {
  return {
    host: `${variables.PROCESS_NAME ?? `${app}-${process.pid}`}@${hostname()}`,
    redisUrl: variables.REDIS_URL,
    redisPrefix: variables.REDIS_PREFIX,
    openAi: { baseUrl: variables.OPENAI_BASE_URL, apiKey: variables.OPENAI_API_KEY },
    model: variables.OPENAI_MODEL,
    prices: variables.PRICES_FILE ? readPriceFile(variables.PRICES_FILE) : {},
    ...(variables.MODEL_CONTEXT_WINDOW !== undefined && { contextWindow: variables.MODEL_CONTEXT_WINDOW }),
    ...documentsOf(variables),
    capacity: variables.WORKER_CAPACITY,
    idleMs: variables.IDLE_TIMEOUT_MS,
    modelSilenceMs: variables.MODEL_SILENCE_MS,
    modelCallMs: variables.MODEL_CALL_MS,
    leaseMs: variables.HEARTBEAT_TTL_MS,
    sweepMs: variables.SWEEP_MS,
    depthCap: variables.MAX_COLLABORATION_DEPTH,
    ...telemetryOf(app, variables),
    probe: {
      ...(variables.FAILPOINT && { failpoint: variables.FAILPOINT }),
      ...(variables.HISTORY_FILE && { historyFile: variables.HISTORY_FILE }),
    },
    ...(variables.EFFECT_LOG && { effectLog: variables.EFFECT_LOG }),
  };
}

/** As the OpenTelemetry specification says: the address for traces as it is, else the base with `/v1/traces` behind it. */
function telemetryOf(app: string, variables: NodeVariables): { telemetry?: TelemetrySettings } {
  const base = variables.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/$/, '');
  const tracesUrl = variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`);
  if (!tracesUrl || variables.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return {};
  return { telemetry: { serviceName: `mailroom-${app}`, tracesUrl } };
}

/** The folder that was named, else the one that lies beside the agents, if there is one. */
function documentsOf({ DOCUMENTS_DIR, AGENTS_DIR }: NodeVariables): { documentsDir?: string } {
  if (DOCUMENTS_DIR) return { documentsDir: DOCUMENTS_DIR };
  const beside = join(AGENTS_DIR, 'documents');
  return existsSync(beside) ? { documentsDir: beside } : {};
}

/**
 * Reads an environment by a schema; an empty variable counts as absent. Throws `misconfigured` with one line that names
 * each variable and what is wrong, without its value.
 */
export function readVariables<T extends z.ZodType>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new AppError('misconfigured', faults.join('; '));
}
