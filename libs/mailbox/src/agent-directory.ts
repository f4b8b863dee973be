import { type AgentDefinition, AppError, foldName } from '@mailroom/contracts';
import type { Redis } from 'ioredis';
import { MailboxKeys } from './keys';

/** Owner of the definitions that come from files, readable in every space; no space can have this name. */
const FILES = '*';

/** Definitions that are kept as objects; a process that meets more begins anew. */
const PARSED_AT_MOST = 200;

/** A definition and where it comes from. */
export interface ListedAgent {
  definition: AgentDefinition;
  readOnly: boolean;
}

/** Agent definitions in Redis: those of files, and those of each space, which win. Ids are compared folded. */
export class AgentDirectory {
  private readonly keys: MailboxKeys;
  /** Spaces and ids of which the latest answer was the space's own: where all are, files are not asked at first. */
  private readonly own = new Set<string>();
  /** Definitions by what is stored: each load of an agent reads the same few. */
  private readonly parsed = new Map<string, AgentDefinition>();

  constructor(
    private readonly redis: Redis,
    prefix: string,
  ) {
    this.keys = new MailboxKeys(prefix);
  }

  /** Replaces all definitions that come from files. */
  async publishFiles(definitions: readonly AgentDefinition[]): Promise<void> {
    const key = this.keys.definitions(FILES);
    const transaction = this.redis.multi().del(key);
    for (const definition of definitions) transaction.hset(key, foldName(definition.id), JSON.stringify(definition));
    await transaction.exec();
  }

  async list(space: string): Promise<ListedAgent[]> {
    const [files, own] = await Promise.all(
      [FILES, space].map((owner) => this.redis.hgetall(this.keys.definitions(owner))),
    );
    const listed = new Map<string, ListedAgent>();
    for (const [id, json] of Object.entries(files ?? {})) listed.set(id, { definition: parse(json), readOnly: true });
    for (const [id, json] of Object.entries(own ?? {})) listed.set(id, { definition: parse(json), readOnly: false });
    return [...listed.keys()].sort().map((id) => listed.get(id) as ListedAgent);
  }

  /**
   * In the order of `ids`, as they are now; undefined where none is defined. One round trip, seldom two. Others are given the
   * same objects: nobody may change one.
   */
  async find(space: string, ids: readonly string[]): Promise<(AgentDefinition | undefined)[]> {
    if (ids.length === 0) return [];
    const unique = [...new Set(ids.map(foldName))];
    const read = (owner: string) => this.redis.hmget(this.keys.definitions(owner), ...unique);
    const isOwn = unique.every((id) => this.own.has(`${space}:${id}`));
    const [own, early] = await Promise.all([read(space), isOwn ? [] : read(FILES)]);
    const files = isOwn && own.includes(null) ? await read(FILES) : early;
    for (const [i, id] of unique.entries()) this.own[own[i] ? 'add' : 'delete'](`${space}:${id}`);
    const found = new Map(unique.map((id, i) => [id, own[i] ?? files[i]]));
    return ids.map((id) => {
      const json = found.get(foldName(id));
      return json ? this.parsedOnce(json) : undefined;
    });
  }

  private parsedOnce(json: string): AgentDefinition {
    const known = this.parsed.get(json);
    if (known) return known;
    const definition = parse(json);
    if (this.parsed.size >= PARSED_AT_MOST) this.parsed.clear();
    this.parsed.set(json, definition);
    return definition;
  }

  /** False when the space has an agent of that id already. */
  async create(space: string, definition: AgentDefinition): Promise<boolean> {
    const added = await this.redis.hsetnx(
      this.keys.definitions(space),
      foldName(definition.id),
      JSON.stringify(definition),
    );
    return added === 1;
  }

  async replace(space: string, definition: AgentDefinition): Promise<void> {
    await this.redis.hset(this.keys.definitions(space), foldName(definition.id), JSON.stringify(definition));
  }

  /** Throws `agent_read_only` for a definition that comes from a file, `agent_not_found` for none. */
  async remove(space: string, id: string): Promise<void> {
    if ((await this.redis.hdel(this.keys.definitions(space), foldName(id))) === 1) return;
    if (await this.redis.hexists(this.keys.definitions(FILES), foldName(id)))
      throw new AppError(
        'agent_read_only',
        `the agent "${id}" comes from a file: edit or remove the file in AGENTS_DIR`,
      );
    throw new AppError('agent_not_found', `there is no agent "${id}"`);
  }
}

function parse(json: string): AgentDefinition {
  return JSON.parse(json) as AgentDefinition;
}
