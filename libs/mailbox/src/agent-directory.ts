import { randomUUID } from 'node:crypto';
import { type AgentDefinition, AppError, foldName } from '@mailroom/contracts';
import type { ChainableCommander, Redis } from 'ioredis';
import { Definitions, FILES, parseDefinition } from './definitions';
import { MailboxKeys } from './keys';

/** A definition and where it comes from. */
export interface ListedAgent {
  definition: AgentDefinition;
  readOnly: boolean;
}

/** Agent definitions in Redis: those of files, and those of each space, which win. Ids are compared folded. */
export class AgentDirectory {
  private readonly keys: MailboxKeys;
  private latest: Definitions | undefined;

  constructor(
    private readonly redis: Redis,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
  }

  /** Replaces all definitions that come from files. */
  async publishFiles(definitions: readonly AgentDefinition[]): Promise<void> {
    const key = this.keys.definitions(FILES);
    await this.write((transaction) => {
      transaction.del(key);
      for (const definition of definitions) transaction.hset(key, foldName(definition.id), JSON.stringify(definition));
    });
  }

  async list(space: string): Promise<ListedAgent[]> {
    const [files, own] = await Promise.all(
      [FILES, space].map((owner) => this.redis.hgetall(this.keys.definitions(owner))),
    );
    const listed = new Map<string, ListedAgent>();
    for (const [id, json] of Object.entries(files ?? {}))
      listed.set(id, { definition: parseDefinition(json), readOnly: true });
    for (const [id, json] of Object.entries(own ?? {}))
      listed.set(id, { definition: parseDefinition(json), readOnly: false });
    return [...listed.keys()].sort().map((id) => listed.get(id) as ListedAgent);
  }

  /**
   * The definitions as they are now. One round trip, for a few bytes: as long as nobody writes one, everybody is given the
   * same object, which has them already.
   */
  async current(): Promise<Definitions> {
    const version = await this.redis.get(this.keys.definitionsVersion());
    if (!this.latest || this.latest.version !== version || this.latest.isFull)
      this.latest = new Definitions(version, this.redis, this.keys);
    return this.latest;
  }

  /** False when the space has an agent of that id already. */
  async create(space: string, definition: AgentDefinition): Promise<boolean> {
    const [added] = await this.write((transaction) =>
      transaction.hsetnx(this.keys.definitions(space), foldName(definition.id), JSON.stringify(definition)),
    );
    return added === 1;
  }

  async replace(space: string, definition: AgentDefinition): Promise<void> {
    await this.write((transaction) =>
      transaction.hset(this.keys.definitions(space), foldName(definition.id), JSON.stringify(definition)),
    );
  }

  /** Throws `agent_read_only` for a definition that comes from a file, `agent_not_found` for none. */
  async remove(space: string, id: string): Promise<void> {
    const [removed] = await this.write((transaction) => transaction.hdel(this.keys.definitions(space), foldName(id)));
    if (removed === 1) return;
    if (await this.redis.hexists(this.keys.definitions(FILES), foldName(id)))
      throw new AppError(
        'agent_read_only',
        `the agent "${id}" comes from a file: edit or remove the file in AGENTS_DIR`,
      );
    throw new AppError('agent_not_found', `there is no agent "${id}"`);
  }

  /**
   * Writes and makes a new version, at once. A version is no number: Redis may come back without its latest writes, and
   * a number would come again with other definitions.
   */
  private async write(fill: (transaction: ChainableCommander) => void): Promise<unknown[]> {
    const transaction = this.redis.multi();
    fill(transaction);
    transaction.set(this.keys.definitionsVersion(), randomUUID());
    const replies = await transaction.exec();
    return (replies ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
  }
}
