import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port';
import { startProcess } from './process-group';

describe('a started process', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mailroom-process-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const script = (name: string, code: string): string => {
    const path = join(dir, `${name}.js`);
    writeFileSync(path, code);
    return path;
  };
  const SERVER = `
    let asked = 0;
    require('node:http').createServer((_, response) => {
      response.statusCode = ++asked < 3 ? 503 : 200;
      response.end();
    }).listen(Number(process.env.PORT), '127.0.0.1');
    process.on('SIGTERM', () => { console.log('good bye'); process.exit(7); });`;

  it('is ready when its health address answers 2xx, and ends on request', async () => {
    const port = await freePort();
    const readyUrl = `http://127.0.0.1:${port}/health/ready`;
    const server = await startProcess({
      name: 'server',
      entry: script('server', SERVER),
      env: { PORT: `${port}` },
      readyUrl,
    });
    expect((await fetch(readyUrl)).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 7, signal: null });
    expect(await server.exited).toEqual({ code: 7, signal: null });
    expect(server.output()).toContain('good bye');
  });

  it('can be killed, also when it ignores a polite request', async () => {
    const entry = script('deaf', `process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000);`);
    const one = await startProcess({ name: 'deaf', entry, readyLine: 'up' });
    expect(await one.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    const two = await startProcess({ name: 'deaf', entry, readyLine: 'up' });
    expect(await two.stop('SIGTERM', 50)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('fails with its name and last lines when it ends before it is ready', async () => {
    const entry = script(
      'dies',
      `console.log('starting'); console.error('no Redis at redis://nowhere'); process.exit(3);`,
    );
    const start = startProcess({ name: 'gateway-1', entry, readyUrl: `http://127.0.0.1:${await freePort()}/` });
    await expect(start).rejects.toThrow(
      /^gateway-1 ended before it was ready \(exit code 3\).*\nstarting\nno Redis at redis:\/\/nowhere$/s,
    );
  });

  it('fails and is gone when it is not ready in time', async () => {
    const entry = script('slow', `console.log('pid', process.pid); setInterval(() => {}, 1000);`);
    const start = startProcess({ name: 'slow', entry, readyLine: 'never said', readyTimeoutMs: 1_000 });
    const error = await start.catch((reason: Error) => reason);
    expect(String(error)).toContain('slow was not ready after 1 s');
    const pid = Number(/pid (\d+)/.exec(String(error))?.[1]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('ends when its parent is killed', async () => {
    const child = script(
      'child',
      `
      process.on('SIGTERM', () => { fs.writeFileSync(process.env.MARK, 'ended'); process.exit(0); });
      const fs = require('node:fs'); console.log('up'); setInterval(() => {}, 1000);`,
    );
    const mark = join(dir, 'mark');
    const registered = require.resolve('@swc/core');
    const parent = script(
      'parent',
      `
      const { transformSync } = require(${JSON.stringify(registered)});
      require('node:module')._extensions['.ts'] = (module, path) =>
        module._compile(transformSync(require('node:fs').readFileSync(path, 'utf8'),
          { filename: path, jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } }).code, path);
      const { startProcess } = require(${JSON.stringify(join(__dirname, 'process-group.ts'))});
      startProcess({ name: 'child', entry: ${JSON.stringify(child)}, readyLine: 'up', env: { MARK: ${JSON.stringify(mark)} } })
        .then(() => console.log('child is up'));`,
    );
    const process = spawn('node', [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(process.stdout, 'data');
    const { watch } = await import('node:fs');
    const ended = new Promise<void>((resolve) => {
      const watcher = watch(dir, (_, name) => {
        if (name !== 'mark') return;
        watcher.close();
        resolve();
      });
    });
    process.kill('SIGKILL');
    await ended;
  });
});
