import { testRedis } from '@mailroom/tools';
import { GatewayHarness } from './testing/gateway-harness';

const redis = testRedis();
let gateway: GatewayHarness;

beforeAll(async () => {
  gateway = await GatewayHarness.start({ redis, modelUrl: 'http://127.0.0.1:9/v1' });
});
afterAll(() => gateway?.close());

const ask = (method: string, path: string, body?: unknown) => gateway.ask(method, `/api/v1/agents${path}`, body);

test('agents of files are there and read-only, in any writing of their id', async () => {
  const { body } = await ask('GET', '');
  expect(body.agents.map(({ id }: { id: string }) => id)).toEqual(['alice', 'boss', 'retired', 'solo']);
  expect((await ask('GET', '/BOSS')).body).toMatchObject({
    id: 'boss',
    systemPrompt: 'You lead.',
    subAgents: [{ as: 'alice', agent: 'alice' }],
    readOnly: true,
  });
  expect(await ask('DELETE', '/boss')).toMatchObject({ status: 409, body: { code: 'agent_read_only' } });
});

test('an agent is created once, read, replaced and removed', async () => {
  const created = await ask('POST', '', { id: 'Writer Ä', systemPrompt: 'You write.' });
  expect(created).toMatchObject({
    status: 201,
    body: { id: 'Writer Ä', status: 'ACTIVE', readOnly: false },
  });
  expect(created.headers.get('location')).toBe('/api/v1/agents/Writer%20%C3%84');
  expect(await ask('POST', '', { id: 'writer ä' })).toMatchObject({ status: 409, body: { code: 'agent_exists' } });
  const replaced = await ask('PUT', '/writer%20ä', { systemPrompt: 'You write well.', status: 'INACTIVE' });
  expect(replaced).toMatchObject({ status: 200, body: { id: 'writer ä', status: 'INACTIVE' } });
  expect((await ask('GET', '/writer%20ä')).body).toMatchObject({ systemPrompt: 'You write well.' });
  expect((await ask('DELETE', '/writer%20ä')).status).toBe(204);
  expect(await ask('GET', '/writer%20ä')).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
  expect(await ask('DELETE', '/writer%20ä')).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
});

test('an agent of the space wins over one of a file, and the file comes back when it is removed', async () => {
  expect((await ask('PUT', '/solo', { systemPrompt: 'Mine.' })).status).toBe(200);
  expect((await ask('GET', '/solo')).body).toMatchObject({ systemPrompt: 'Mine.', readOnly: false });
  await ask('DELETE', '/solo');
  expect((await ask('GET', '/solo')).body).toMatchObject({ systemPrompt: 'You answer.', readOnly: true });
});

test.each([
  ['POST', '', { id: 'lead' }, 'id', 'reserved'],
  ['POST', '', { id: 'a:b' }, 'id', 'letters'],
  ['POST', '', { id: 'a', prompt: 'x' }, '', 'prompt'],
  ['POST', '', { id: 'a', subAgents: Array.from({ length: 9 }, (_, i) => `s${i}`) }, 'subAgents', 'at most 8'],
  ['POST', '', { id: 'a', subAgents: ['b', 'B'] }, 'subAgents', 'twice'],
  ['PUT', '/a', { id: 'b' }, 'id', 'differs'],
  ['PUT', '/a', { maxSteps: 0 }, 'maxSteps', '1'],
  ['PUT', '/a', undefined, '', 'object'],
])('%s %s %j is refused and says where and why', async (...[method, path, body, field, reason]) => {
  const answer = await ask(method, path, body);
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(answer.body.errors[0].path).toBe(field);
  expect(answer.body.errors[0].message).toContain(reason);
});

const fallback = { onError: 'fallback_to_primary' };

test.each([
  [{ subAgents: [{ agent: 'b', toolName: 'lookup' }] }, 'subAgents.0.toolName', "one of the agent's own tools"],
  [{ tools: ['subagent_b'], subAgents: ['a', 'b'] }, 'subAgents.1', 'set another "toolName"'],
  [
    { handoff: fallback, subAgents: [{ agent: 'b', toolName: 'lookup', handoff: { onError: 'fail' } }] },
    'subAgents.0.toolName',
    'own tools',
  ],
  [
    { handoff: { ...fallback, enabled: false }, subAgents: [{ agent: 'b', toolName: 'lookup' }] },
    'subAgents.0.toolName',
    'own tools',
  ],
  [{ subAgents: [{ agent: 'b', toolName: 'answer_question' }] }, 'subAgents.0.toolName', 'the runtime has a tool'],
  [
    { handoff: fallback, subAgents: [{ agent: 'b', toolName: 'send_message' }] },
    'subAgents.0.toolName',
    'the runtime has a tool',
  ],
  [
    {
      subAgents: [
        { agent: 'b', toolName: 'x' },
        { agent: 'c', toolName: 'x' },
      ],
    },
    'subAgents',
    'two members',
  ],
  [{ handoff: { inputFilter: 'redact-secret' } }, 'handoff.inputFilter', 'did you mean "redact-secrets"?'],
  [{ subAgents: [{ agent: 'b', handoff: { inputFilter: ['zzz'] } }] }, 'subAgents.0.handoff.inputFilter', '"zzz"'],
])('contract 4: a team that cannot be called as its definition says is refused, with the field: %j', async (...row) => {
  const [more, field, reason] = row;
  const body = { tools: ['lookup'], collaboration: 'handoff', ...more };
  for (const answer of [await ask('POST', '', { id: 'caller', ...body }), await ask('PUT', '/caller', body)]) {
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.body.errors[0].path).toBe(field);
    expect(answer.body.errors[0].message).toContain(reason);
  }
});

test('contract 4: an own tool may have the name of the handoff tool where the policy falls back to it', async () => {
  const subAgents = [{ agent: 'b', toolName: 'lookup', handoff: { onDenied: 'fallback_to_primary' } }];
  const body = { tools: ['lookup'], collaboration: 'handoff', subAgents, handoff: { inputFilter: 'redact-secrets' } };
  expect((await ask('PUT', '/caller', body)).status).toBe(200);
  await ask('DELETE', '/caller');
});

test('a problem in an agent file stops the start and is told with file and line', async () => {
  const agents = { 'broken.md': '---\nid: lead\n---\nx' };
  await expect(GatewayHarness.start({ redis: testRedis(), modelUrl: 'http://127.0.0.1:9/v1', agents })).rejects.toThrow(
    /broken\.md:2: /,
  );
});
