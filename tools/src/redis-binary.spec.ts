import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisBinary } from './redis-binary';

describe('the search for a Redis server', () => {
  const path = process.env.PATH;
  const dir = mkdtempSync(join(tmpdir(), 'mailroom-binary-'));
  const program = (name: string, version: string) => {
    writeFileSync(join(dir, name), `#!/bin/sh\necho '${version}'\n`);
    chmodSync(join(dir, name), 0o755);
  };
  beforeEach(() => {
    process.env.PATH = dir;
  });
  afterEach(() => {
    process.env.PATH = path;
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('names the ways out when there is none, and the one that is too old', async () => {
    const nothing = findRedisBinary(join(dir, 'cache'));
    await expect(nothing).rejects.toThrow(
      /^No Redis 7 or newer was found\.\nInstall one: .*brew.*apt-get.*docker.*REDIS_URL=/s,
    );
    program('redis-server', 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64');
    await expect(findRedisBinary(join(dir, 'cache'))).rejects.toThrow('redis-server is version 6.0.16');
  });

  it('takes a Valkey when the Redis is too old', async () => {
    program('redis-server', 'Redis server v=6.2.0 sha=0');
    program('valkey-server', 'Valkey server v=8.0.1 sha=0');
    expect(await findRedisBinary(join(dir, 'cache'))).toMatchObject({
      path: join(dir, 'valkey-server'),
      version: '8.0.1',
    });
  });
});
