import type { ToolRegistry } from '@mailroom/capabilities';
import type { Logger } from '@mailroom/contracts';
import type { ModelClient, PriceTable } from '@mailroom/llm';
import type { AgentDirectory, Mailbox, Notifications } from '@mailroom/mailbox';
import type { Tracer } from '@opentelemetry/api';
import type { InputFilters } from './handoff/input-filters';

/** Times of a deployment; agents may set their own where their definition has the field. */
export interface RunSettings {
  /** Model of agents that name none. */
  model: string;
  /** Tokens that this model takes in one request; what is known of it when absent. */
  contextWindow?: number;
  idleMs: number;
  /** An idle agent keeps its transcript in memory for this long. */
  transcriptMs: number;
  modelSilenceMs: number;
  modelCallMs: number;
  toolMs: number;
  leaseMs: number;
  /** Layers of handoffs below a lead (R20). */
  depthCap: number;
}

/** What the loop needs of the outside world, one of each per process. */
export interface RunDeps {
  mailbox: Mailbox;
  notifications: Pick<Notifications, 'listen' | 'ignore'>;
  agents: Pick<AgentDirectory, 'current'>;
  model: ModelClient;
  prices: Pick<PriceTable, 'costOf' | 'contextWindow'>;
  tools: ToolRegistry;
  filters: InputFilters;
  settings: RunSettings;
  /** Names process and machine in `as` and `ax` events. */
  host: string;
  logger: Logger;
  /** Makes spans; absent where no traces are exported. */
  tracer?: Tracer;
}
