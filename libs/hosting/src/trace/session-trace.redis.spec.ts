import { type SessionDetail, type TraceSpan, trace } from '@mailroom/contracts';
import { connect } from '@mailroom/mailbox';
import { type ModelRequestBody, send, story, TeamHarness, wait } from '@mailroom/runtime/testing';
import { testRedis } from '@mailroom/tools';
import { SessionTrace } from './session-trace';

const redis = testRedis();
const store = connect({ url: redis.url, name: 'test', mood: 'patient' });
let team: TeamHarness;
let detail: SessionDetail;
let runId: string;

beforeAll(async () => {
  team = await TeamHarness.start({
    redis,
    team: ['alice'],
    answer: story({
      lead: [
        { calls: [send('alice', 'task', 'Look at the clock.'), send('bob', 'task', 'Nobody.'), wait] },
        { calls: [wait] },
        { text: 'It is late.' },
      ],
      alice: [{ text: 'I look.', calls: [{ name: 'current_time', args: {} }] }, { text: 'The clock says noon.' }],
    }),
  });
  runId = await team.ask('What time is it?');
  await team.settled(runId);
  await team.allLeft();
  detail = (await team.reader.detail('default', team.sessionId)) as SessionDetail;
});
afterAll(async () => {
  await team?.close();
  store.disconnect();
});

async function read(content = false): Promise<{ truncated: boolean; spans: TraceSpan[] }> {
  const { head, spans } = await new SessionTrace(team.reader, team.feed).read('default', detail, content);
  const list: TraceSpan[] = [];
  for await (const span of spans) list.push(span);
  return trace.parse({ ...head, spans: list });
}

const find = (spans: TraceSpan[], id: string): TraceSpan => {
  const span = spans.find((candidate) => candidate.id === id);
  if (!span) throw new Error(`no ${id} among ${spans.map((one) => one.id).join(' ')}`);
  return span;
};

/** A request's messages without the system prompt and the table of facts, which nobody keeps. */
function withoutUnrecorded(messages: ModelRequestBody['messages']): ModelRequestBody['messages'] {
  return messages
    .slice(1)
    .map((message) => ({ ...message, content: (message.content ?? '').replace(/(?:^|\n\n)<facts>[\s\S]*$/, '') }))
    .filter(({ role, content }) => role !== 'user' || content !== '');
}

/** Spans whose parent does not come before them. */
const orphans = (spans: TraceSpan[]): string[] => {
  const seen = new Set<string | undefined>([undefined]);
  return spans.filter(({ id, parentId }) => !seen.add(id) || !seen.has(parentId)).map(({ id }) => id);
};

/** The ids of a span and of those above it. */
const path = (spans: TraceSpan[], id: string): string[] => {
  const { parentId } = find(spans, id);
  return parentId ? [id, ...path(spans, parentId)] : [id];
};

test('runs, loads, steps, model calls, tool calls and messages come as a tree by start', async () => {
  const { truncated, spans } = await read();
  expect(truncated).toBe(false);
  expect(find(spans, `run:${runId}`)).toMatchObject({ kind: 'run', status: 'ok', attributes: { status: 'completed' } });
  const tool = spans.find(({ name }) => name === 'current_time') as TraceSpan;
  expect(path(spans, tool.id)).toEqual([tool.id, 'step:alice:1', 'activation:alice:1', `run:${runId}`]);
  expect(path(spans, 'model:lead:1')).toEqual(['model:lead:1', 'step:lead:1', `run:${runId}`]);
  expect(find(spans, 'activation:alice:1')).toMatchObject({ status: 'ok', attributes: { reason: 'completed' } });
  expect(find(spans, 'model:alice:2').attributes).toMatchObject({
    model: 'scripted',
    input: 10,
    output: 5,
    attempts: 1,
  });

  const [sent, refused] = spans.filter(({ name }) => name === 'send_message') as [TraceSpan, TraceSpan];
  expect(refused).toMatchObject({ status: 'failed', attributes: { code: 'unknown_recipient' } });
  const task = find(spans, `message:${sent.attributes.msgId}`);
  expect(task).toMatchObject({ name: 'task', agent: 'lead', parentId: sent.id, attributes: { to: 'alice' } });

  const starts = spans.filter(({ kind }) => kind !== 'message').map(({ startedAt }) => startedAt);
  expect(starts).toEqual([...starts].sort());
  for (const { startedAt = '', endedAt = '' } of spans) expect(startedAt <= endedAt).toBe(true);
  expect(orphans(spans)).toEqual([]);
  expect(spans.some(({ content }) => content)).toBe(false);
  expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
});

test('contents show what each model was sent and said, as the model server got it', async () => {
  const { spans } = await read(true);
  for (const [agent, steps] of [
    ['lead', 3],
    ['alice', 2],
  ] as const) {
    const asked = team.model.requests.filter(({ messages }) =>
      messages[0]?.content?.includes(`Your address in this session: ${agent}\n`),
    );
    expect(asked.length).toBeGreaterThanOrEqual(steps - 1);
    asked.forEach(({ messages }, i) => {
      const { sent } = find(spans, `model:${agent}:${i + 1}`).content as {
        sent: { messages: { role: string; content: string; toolCalls?: { id: string }[] }[]; notRecorded: string[] };
      };
      expect(sent.notRecorded).toEqual(['system prompt', 'tools', ...(agent === 'lead' ? ['facts table'] : [])]);
      expect(
        sent.messages.map(({ role, content, toolCalls }) => [role, content, toolCalls?.map(({ id }) => id)]),
      ).toEqual(
        withoutUnrecorded(messages).map(({ role, content, tool_calls }) => [
          role,
          content ?? '',
          tool_calls?.map(({ id }) => id),
        ]),
      );
    });
  }
  expect(find(spans, 'model:alice:2').content).toMatchObject({ answer: { content: 'The clock says noon.' } });
  expect(find(spans, `run:${runId}`).content).toEqual({ output: 'It is late.' });
  expect(spans.find(({ name }) => name === 'current_time')?.content).toEqual({
    arguments: '{}',
    result: expect.stringMatching(/\d/),
  });
  expect(spans.find(({ kind, name }) => kind === 'message' && name === 'result')?.content).toEqual({
    content: 'The clock says noon.',
  });
});

test('when events were trimmed the journals still give all steps, in order, and the head says so', async () => {
  const whole = await read();
  const [events] = await store.keys(`${redis.prefix}:events:*`);
  await store.xtrim(events ?? '', 'MAXLEN', 2);
  const { truncated, spans } = await read(true);
  expect(truncated).toBe(true);
  expect(orphans(spans)).toEqual([]);
  expect(spans.some(({ kind }) => kind === 'activation')).toBe(false);
  const steps = (all: TraceSpan[]) => all.filter(({ kind }) => kind === 'step').map(({ id }) => id);
  expect(steps(spans)).toEqual(steps(whole.spans));
  expect(find(spans, 'step:lead:1')).toMatchObject({ parentId: `run:${runId}`, status: 'ok' });
  expect(find(spans, 'step:lead:1').startedAt).toBeUndefined();
  expect(find(spans, 'model:alice:2').content).toMatchObject({ answer: { content: 'The clock says noon.' } });
});
