import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { LEAD, type SessionEvent } from '@mailroom/contracts';
import { createDemoView } from './demo-view';
import { environment } from './environment';
import { SessionClient } from './session-client';
import { type RunningServer, type Stack, startStack } from './stack';
import { usageTable } from './usage-table';

const QUESTION = 'Make a Q2 competitive analysis report';

/** The same team, whose lead writes to it or calls it. */
const LEADS = { message: 'coordinator', handoff: 'handoff-coordinator' };

/** The scripted lead holds its answer to a question until this barrier is released. */
const HELD_ANSWER = {
  rules: resolve(__dirname, '../../apps/scripted-model/rules/held-answer.yaml'),
  barrier: 'answer',
};

/** What the scripted model would cost, so that there is a cost to see. */
const MADE_UP_PRICES = resolve(__dirname, '../../apps/scripted-model/prices.json');

/** Every scripted answer takes this long, so that people can follow. */
const SCRIPTED_LATENCY_MS = 300;

/** The longest silence of the event stream before the demo gives up. */
const SILENCE_MS = 120_000;

const HELP = `npm run demo [-- --ask "a question"] [-- --handoff] [-- --json]

Starts Redis, two gateways and two workers, lets a team answer a question and stops everything again.
  --ask      another question than "${QUESTION}"
  --handoff  the lead calls its team as tools instead of writing to it
  --json     the event stream as one JSON object per line on standard output (with \`npm run -s\`), nothing else`;

/** Where the demo's words go: people read all of it, with --json standard output carries only events. */
interface Screen {
  event(event: SessionEvent): void;
  say(...lines: string[]): void;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ask: { type: 'string' },
      handoff: { type: 'boolean', default: false },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(HELP);
  const screen = values.json ? jsonScreen() : readableScreen();
  screen.say('Starting Redis, two gateways and two workers …');
  const stack = await startStack({
    gateways: 2,
    workers: 2,
    modelEnv: { RULES: HELD_ANSWER.rules, LATENCY_MS: String(SCRIPTED_LATENCY_MS) },
    env: {
      REDIS_PREFIX: `demo-${randomBytes(4).toString('hex')}`,
      ...(!environment().modelUrl && { PRICES_FILE: MADE_UP_PRICES }),
    },
  });
  try {
    await play(stack, LEADS[values.handoff ? 'handoff' : 'message'], values.ask, screen);
  } catch (error) {
    for (const server of [...stack.gateways, ...stack.workers]) {
      const lines = server.output().trim().split('\n').slice(-8).join('\n');
      if (lines) console.error(`--- the last lines of ${server.name}\n${lines}`);
    }
    throw error;
  } finally {
    await stack.stop();
  }
}

function jsonScreen(): Screen {
  return { event: (event) => console.log(JSON.stringify(event)), say: () => {} };
}

function readableScreen(): Screen {
  const view = createDemoView({ color: environment().color });
  return {
    event: (event) => {
      for (const line of view(event)) console.log(line);
    },
    say: (...lines) => console.log(lines.join('\n')),
  };
}

/** Asks on the first gateway, watches on the second, prints what came of it. Throws when the run does not complete. */
async function play(stack: Stack, lead: string, ask: string | undefined, screen: Screen): Promise<void> {
  const [asked, watched] = stack.gateways.map(({ url }) => new SessionClient(url));
  if (!asked || !watched) throw new Error('the demo needs two gateways');
  const session = await asked.open(lead, ask ?? QUESTION);
  screen.say(`Session ${session.id}: asked on gateway-1, watched on gateway-2`, '');

  const handOver = new HandOver(stack, screen);
  const done = await watch(watched.events.bind(watched, session.id), stack, (event) => {
    screen.event(event);
    handOver.see(event);
  });
  await handOver.finished();
  const { status, reason, text } = done.data;
  if (status !== 'completed') throw new Error(`the run ended as ${status}${reason ? `: ${reason}` : ''}`);
  if (ask === undefined && stack.model && !handOver.reloaded) {
    throw new Error('the worker of a waiting agent was stopped, and the agent was not loaded again on the other');
  }
  const usage = await watched.usage(session.id);
  screen.say('', '─'.repeat(72), String(text), '─'.repeat(72), '', ...usageTable(usage), '');
  if (stack.model) {
    screen.say(
      'The model was scripted, and its prices are made up. A real one: set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.',
    );
  }
  await asked.end(session.id);
}

/** Reads events until the run is done. Throws when nothing comes for long, or when a process ends by itself. */
async function watch(
  events: (options: { signal: AbortSignal }) => AsyncIterable<SessionEvent>,
  stack: Stack,
  see: (event: SessionEvent) => void,
): Promise<SessionEvent> {
  const over = new AbortController();
  for (const { name, exited } of [...stack.gateways, ...stack.workers]) {
    void exited.then(({ code, signal }) => {
      if (code !== 0 && signal !== 'SIGTERM')
        over.abort(`${name} ended in the middle of it (${signal ?? `exit code ${code}`})`);
    });
  }
  const silence = setTimeout(() => over.abort(`no event for ${SILENCE_MS / 1000} s`), SILENCE_MS);
  try {
    for await (const event of events({ signal: over.signal })) {
      silence.refresh();
      see(event);
      if (event.event === 'done') return event;
    }
  } finally {
    clearTimeout(silence);
  }
  throw new Error(String(over.signal.reason));
}

/** Stops the worker of the first agent that asks the lead something, while it waits for the answer. */
class HandOver {
  /** True once the agent has been loaded by another process. */
  reloaded = false;
  private readonly hosts = new Map<string, string>();
  private stopped: { agent: string; host: string; gone: Promise<void> } | undefined;

  constructor(
    private readonly stack: Stack,
    private readonly screen: Screen,
  ) {}

  see({ event, agentId = '', data }: SessionEvent): void {
    if (event === 'as') {
      const host = String(data.host);
      this.hosts.set(agentId, host);
      if (agentId === this.stopped?.agent && data.reload && host !== this.stopped.host) this.reloaded = true;
    }
    if (event === 'ac' && data.to === LEAD && !this.stopped) this.stopHostOf(String(data.from));
  }

  /** Resolves when the stopped worker, if there is one, is gone. */
  async finished(): Promise<void> {
    await this.stopped?.gone;
  }

  private stopHostOf(agent: string): void {
    const host = this.hosts.get(agent) ?? '';
    const worker = this.stack.workers.find((server) => runsOn(server, host));
    if (!worker) throw new Error(`${agent} runs on "${host}", which is none of the workers`);
    this.screen.say(`         ⚡ SIGTERM to ${worker.name}, where ${agent} waits for the answer`);
    this.stopped = { agent, host, gone: this.stop(worker) };
  }

  private async stop(worker: RunningServer): Promise<void> {
    await worker.stop();
    this.screen.say(`         ⚡ ${worker.name} is gone`);
    // Only now: so the story is the same on a fast and on a slow machine.
    const { model } = this.stack;
    if (model) await fetch(`${model.url}/barriers/${HELD_ANSWER.barrier}/release`, { method: 'POST' });
  }
}

/** An agent's host names its process, by name or number, and its machine. */
function runsOn({ name, pid }: RunningServer, host: string): boolean {
  return host.split(/[^\w-]+/).some((part) => part === name || part === String(pid));
}

main().catch((error: unknown) => {
  console.error(`The demo failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
});
