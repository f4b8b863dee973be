import { type AgentDefinition, foldName } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import type { MailboxKeys } from './keys';

/** Owner of the definitions that come from files, readable in every space; no space can have this name. */
export const FILES = '*';

/** Definitions that are kept as objects; with more of them a directory begins anew. */
const KEPT_AT_MOST = 1_000;

/** A definition as it is stored. */
export function parseDefinition(json: string): AgentDefinition {
  return JSON.parse(json) as AgentDefinition;
}

/**
 * The agent definitions as they were at one version, or as they have become since: read when they are asked for first,
 * and kept. Nobody may change one.
 */
export class Definitions {
  /** By space and id; undefined where none is defined. */
  private readonly known = new Map<string, AgentDefinition | undefined>();

  constructor(
    readonly version: string | null,
    private readonly redis: Redis,
    private readonly keys: MailboxKeys,
  ) {}

  /** True: it holds as much as is worth keeping. */
  get isFull(): boolean {
    return this.known.size >= KEPT_AT_MOST;
  }

  /** In the order of `ids`; undefined where none is defined. At most one round trip. */
  async find(space: string, ids: readonly string[]): Promise<(AgentDefinition | undefined)[]> {
    const folded = ids.map(foldName);
    const missing = [...new Set(folded)].filter((id) => !this.known.has(`${space}:${id}`));
    if (missing.length > 0) await this.read(space, missing);
    return folded.map((id) => this.known.get(`${space}:${id}`));
  }

  private async read(space: string, ids: readonly string[]): Promise<void> {
    const [own, files] = await Promise.all(
      [space, FILES].map((owner) => this.redis.hmget(this.keys.definitions(owner), ...ids)),
    );
    for (const [i, id] of ids.entries()) {
      const json = own?.[i] ?? files?.[i];
      this.known.set(`${space}:${id}`, json ? parseDefinition(json) : undefined);
    }
  }
}
