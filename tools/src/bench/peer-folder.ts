import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnv } from '../environment';

const run = promisify(execFile);

/** What a program of a peer says of itself, as one JSON line. */
export interface PeerReport {
  name: string;
  sessionsPerSecond: number;
  cpuMsPerModelCall: number;
}

/**
 * A folder with the team on other frameworks: an npm project whose programs use its `harness.mjs`. Each runs in a
 * process of its own with MODEL_URL, SESSIONS and CONCURRENCY, starts with five sessions that do not count, and ends
 * with a `PeerReport`.
 */
export class PeerFolder {
  private constructor(
    private readonly dir: string,
    readonly programs: readonly string[],
  ) {}

  /** Uses the folder where its packages are installed, and else a copy of it, into which npm installs them. */
  static async open(folder: string): Promise<PeerFolder> {
    const dir = existsSync(join(folder, 'node_modules')) ? folder : await installedCopy(folder);
    const programs = readdirSync(dir).filter(
      (file) => file.endsWith('.mjs') && readFileSync(join(dir, file), 'utf8').includes("from './harness.mjs'"),
    );
    if (programs.length === 0) throw new Error(`no file *.mjs of ${folder} imports ./harness.mjs`);
    return new PeerFolder(dir, programs);
  }

  async measure(program: string, modelUrl: string, sessions: number, concurrency: number): Promise<PeerReport> {
    const env = childEnv({ MODEL_URL: modelUrl, SESSIONS: String(sessions), CONCURRENCY: String(concurrency) });
    const { stdout } = await run(process.execPath, [join(this.dir, program)], { env, timeout: 300_000 });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PeerReport;
  }
}

/** The same packages are installed once per machine and then found again. */
async function installedCopy(folder: string): Promise<string> {
  const packages = readFileSync(join(folder, 'package.json'));
  const dir = join(tmpdir(), `mailroom-peers-${createHash('sha256').update(packages).digest('hex').slice(0, 12)}`);
  mkdirSync(dir, { recursive: true });
  for (const file of readdirSync(folder)) {
    if (/\.(mjs|json)$/.test(file)) writeFileSync(join(dir, file), readFileSync(join(folder, file)));
  }
  console.error(`installing the packages of ${folder} in ${dir} …`);
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir });
  return dir;
}
