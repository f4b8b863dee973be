import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentMessage } from '@mailroom/contracts';
import { SessionClient, type Stack } from '@mailroom/tools';
import { eventsUntil, isDone, REQUEST, storyStack } from './q2-story';
import { type CollectedSpan, TraceCollector } from './trace-collector';

const KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
const CALLER = { traceId: 'c0ffee00c0ffee00c0ffee00c0ffee00', spanId: 'ca11e4ca11e4ca11' };

const TEAMS = [
  {
    how: 'by message',
    lead: 'coordinator',
    leadName: 'Project coordinator',
    agents: ['lead', 'alice', 'bob', 'reporter'],
  },
  {
    how: 'by handoff',
    lead: 'handoff-coordinator',
    leadName: 'Project coordinator (by handoff)',
    agents: ['lead', 'alice#1', 'bob#1', 'reporter'],
  },
];

describe.each(TEAMS)('with an exporter, a team that works $how', ({ lead, leadName, agents }) => {
  let stack: Stack;
  let collector: TraceCollector;
  let sessionId: string;
  let messages: AgentMessage[];
  let spans: CollectedSpan[];
  let journals: string;

  beforeAll(async () => {
    collector = await TraceCollector.start();
    stack = await storyStack({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hidden' },
    });
    const url = stack.gateways[0]?.url ?? '';
    const opened = await fetch(`${url}/api/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` },
      body: JSON.stringify({ leadAgentId: lead, input: REQUEST }),
    });
    ({ id: sessionId } = (await opened.json()) as { id: string });
    await eventsUntil(url, sessionId, isDone);
    const read = async (path: string) => (await fetch(`${url}/api/v1/sessions/${sessionId}${path}`)).json();
    ({ messages } = (await read('/messages?limit=200')) as { messages: AgentMessage[] });
    journals = JSON.stringify(
      await Promise.all(agents.map((agent) => read(`/agents/${encodeURIComponent(agent)}/journal`))),
    );
    await Promise.all([...stack.gateways, ...stack.workers].map((server) => server.stop()));
    spans = collector.spans;
  }, 90_000);
  afterAll(async () => {
    await stack?.stop();
    await collector?.close();
  });

  const named = (name: string) => spans.filter((span) => span.name === name);
  const byId = (id: string | undefined) => spans.find(({ spanId }) => spanId === id);
  const ancestors = (span: CollectedSpan): CollectedSpan[] => {
    const parent = byId(span.parentSpanId);
    return parent ? [parent, ...ancestors(parent)] : [];
  };

  test('one trace, begun by the caller, leads from the gateway to the worker and back', () => {
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]));
    const [request] = named('POST /api/v1/sessions');
    expect(request).toMatchObject({ kind: KIND.server, parentSpanId: CALLER.spanId, service: 'mailroom-gateway' });
    const last = named(`invoke_agent ${leadName}`).at(-1) as CollectedSpan;
    const path = ancestors(last).map(({ name, service }) => `${service} ${name}`);
    const gateway = path.lastIndexOf(`mailroom-gateway invoke_agent ${leadName}`);
    const worker = path.findIndex((step) => step.startsWith('mailroom-worker invoke_agent'));
    expect(worker).toBeGreaterThan(-1);
    expect(gateway).toBeGreaterThan(worker);
    expect(path.at(-1)).toBe('mailroom-gateway POST /api/v1/sessions');
  });

  test('every message that was read is linked from the step that read it to the span that sent it', () => {
    const sent = spans.filter(({ kind }) => kind === KIND.producer);
    const read = spans.filter(({ kind }) => kind === KIND.consumer);
    for (const message of messages.filter(({ traceparent }) => traceparent)) {
      const origin = message.traceparent?.split('-')[2];
      expect(sent.map(({ spanId }) => spanId)).toContain(origin);
      const reader = read.find(({ links }) => links.some(({ spanId }) => spanId === origin));
      expect([message.type, reader?.name]).toEqual([message.type, `process ${message.to}`]);
    }
    expect(messages.filter(({ traceparent }) => !traceparent).map(({ from }) => from)).toEqual([]);
  });

  test('model calls, tool calls and messages hang under the agent that made them, with what they used', () => {
    const chats = named('chat scripted');
    expect(chats.length).toBeGreaterThan(5);
    for (const chat of chats) {
      expect(ancestors(chat).some(({ name }) => name.startsWith('invoke_agent '))).toBe(true);
      expect(chat).toMatchObject({
        kind: KIND.client,
        failed: false,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.conversation.id': sessionId,
          'gen_ai.request.model': 'scripted',
          'gen_ai.response.model': expect.any(String),
          'gen_ai.usage.input_tokens': expect.any(Number),
          'gen_ai.usage.output_tokens': expect.any(Number),
          'mailroom.run.id': expect.stringMatching(/^run_/),
          'mailroom.step': expect.any(Number),
        },
      });
    }
    // Alice and bob look things up at the same time.
    const lookups = named('execute_tool lookup');
    for (const { attributes } of lookups)
      expect(attributes).toMatchObject({ 'gen_ai.tool.name': 'lookup', 'gen_ai.tool.call.id': expect.any(String) });
    expect(lookups.flatMap(ancestors).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['invoke_agent Analyst', 'invoke_agent Researcher']),
    );
  });

  test('no span holds a prompt, a message, a tool argument, a result or a secret', () => {
    const exported = collector.bodies.join('\n');
    const strings = new Set<string>();
    collect(JSON.parse(journals), strings);
    for (const { content, context } of messages) collect([content, context], strings);
    const telling = [...strings].filter((text) => text.includes(' ')).map((text) => text.slice(0, 40));
    expect(telling.length).toBeGreaterThan(20);
    expect(telling.filter((text) => exported.includes(JSON.stringify(text).slice(1, -1)))).toEqual([]);
    for (const secret of ['hidden', 'Your address in this session', '<inbox>', REQUEST])
      expect(exported).not.toContain(secret);
  });
});

describe('without an exporter', () => {
  let folder: string;
  let stack: Stack;
  let collector: TraceCollector;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'modules-'));
    collector = await TraceCollector.start();
    const note = join(folder, 'note-modules.cjs');
    await writeFile(
      note,
      `process.on('exit', () => require('node:fs').writeFileSync(process.env.MODULES_FILE, Object.keys(require.cache).join('\\n')));`,
    );
    const noting = (file: string) => ({ NODE_OPTIONS: `--require ${note}`, MODULES_FILE: join(folder, file) });
    stack = await storyStack({ gateways: 0, workers: 0 });
    await stack.startGateway({
      ...noting('gateway'),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SDK_DISABLED: 'true',
    });
    await stack.startWorker(noting('worker'));
  }, 90_000);
  afterAll(async () => {
    await stack?.stop();
    await collector?.close();
    await rm(folder, { recursive: true });
  });

  test('nothing is exported, no SDK is loaded and messages carry nothing of it', async () => {
    const url = stack.gateways[0]?.url ?? '';
    const { id } = await new SessionClient(url).open('coordinator', REQUEST);
    const events = await eventsUntil(url, id, isDone);
    expect(JSON.stringify(events)).not.toContain('traceparent');
    await Promise.all([...stack.gateways, ...stack.workers].map((server) => server.stop()));
    expect(collector.bodies).toEqual([]);
    for (const file of ['gateway', 'worker']) {
      const modules = (await readFile(join(folder, file), 'utf8')).split('\n');
      expect(modules.length).toBeGreaterThan(100);
      expect(modules.filter((path) => /@opentelemetry\/(?!api\/)/.test(path))).toEqual([]);
    }
  }, 60_000);
});

function collect(value: unknown, strings: Set<string>): void {
  if (typeof value === 'string') strings.add(value);
  else if (value && typeof value === 'object') for (const item of Object.values(value)) collect(item, strings);
}
