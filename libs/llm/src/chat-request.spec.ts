import type { ToolSpec } from '@mailroom/contracts';
import { ChatRequests } from './chat-request';
import type { Body } from './http-transport';
import type { ChatMessage, ModelRequest } from './model-client';

const textOf = (body: Body) => Buffer.concat(body.map((piece) => Buffer.from(piece))).toString();

function body(messages: ChatMessage[], { sendReasoning = true, tools = [] as ToolSpec[] } = {}) {
  return JSON.parse(textOf(new ChatRequests(sendReasoning).body(request({ messages, tools }))));
}

function request(fields: Partial<ModelRequest>): ModelRequest {
  const signal = new AbortController().signal;
  return { model: 'm', messages: [], tools: [], silenceMs: 1, callMs: 1, signal, ...fields };
}

const call = { id: 'c_1', name: 'weather', arguments: '{"city":"Oslo"}' };

describe('the request', () => {
  it('asks for a stream with usage, and has no tools when there are none', () => {
    expect(body([{ role: 'user', content: 'hi' }])).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('carries tools and every kind of message', () => {
    const tool = { name: 'weather', description: 'The weather', parameters: { type: 'object' } };
    const sent = body(
      [
        { role: 'system', content: 's' },
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', toolCallId: 'c_1', content: '4 degrees' },
        { role: 'assistant', content: 'It is 4 degrees.', toolCalls: [] },
      ],
      { tools: [tool] },
    );
    expect(sent.tools).toEqual([{ type: 'function', function: tool }]);
    expect(sent.messages).toEqual([
      { role: 'system', content: 's' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
      { role: 'tool', tool_call_id: 'c_1', content: '4 degrees' },
      { role: 'assistant', content: 'It is 4 degrees.' },
    ]);
  });

  it('sends reasoning back with tool calls only, and not at all when that is off', () => {
    const thought: ChatMessage = { role: 'assistant', content: '', toolCalls: [call], reasoning: 'Look first.' };
    expect(body([thought]).messages[0]).toHaveProperty('reasoning_content', 'Look first.');
    expect(body([thought], { sendReasoning: false }).messages[0]).not.toHaveProperty('reasoning_content');
    expect(body([{ ...thought, toolCalls: [] }]).messages[0]).not.toHaveProperty('reasoning_content');
  });

  it('never holds arguments that are no JSON', () => {
    const sent = body([{ role: 'assistant', content: '', toolCalls: [{ ...call, arguments: '{"city":' }] }]);
    expect(JSON.stringify(sent.messages)).toContain(JSON.stringify(JSON.stringify({ unparsed: '{"city":' })));
  });
});

describe('a conversation that grows', () => {
  const said = (text: string): ChatMessage => ({ role: 'user', content: text });
  // More than is kept as text, with characters of one to four bytes.
  const long = 'Zoë saw an owl 🦉. '.repeat(100);

  it('has the body of all its messages at each step, whatever lasts', () => {
    const requests = new ChatRequests(true);
    const lasting: ChatMessage[] = [];
    for (let step = 0; step < 40; step++) {
      const messages = [said(`latest ${step}`)];
      const whole = request({ messages: [...lasting, ...messages] });
      expect(textOf(requests.body(request({ lasting, messages })))).toBe(textOf(requests.body(whole)));
      lasting.push(said(`${step}: ${long.slice(0, step * 50)}`), {
        role: 'assistant',
        content: 'Yes.',
        toolCalls: [call],
      });
    }
  });

  it('is written once', () => {
    const requests = new ChatRequests(true);
    let written = 0;
    const counted = (text: string): ChatMessage => ({
      role: 'user',
      get content() {
        written++;
        return text;
      },
    });
    const lasting = [counted('one'), counted(long)];
    for (let step = 0; step < 5; step++) requests.body(request({ lasting, messages: [said('go on')] }));
    expect(written).toBe(2);
  });

  it('does not change a body that is still being sent', () => {
    const requests = new ChatRequests(true);
    const lasting: ChatMessage[] = [];
    const sent = Array.from({ length: 40 }, (_, step) => {
      lasting.push(said(`${step} ${long}`));
      const body = requests.body(request({ lasting, messages: [said('go on')] }));
      return { body, text: textOf(body) };
    });
    for (const { body, text } of sent) expect(textOf(body)).toBe(text);
  });

  it('is asked anew when tools or model are others', () => {
    const requests = new ChatRequests(true);
    const lasting = [said(long.repeat(10))];
    const bodyOf = (fields: Partial<ModelRequest>) =>
      JSON.parse(textOf(requests.body(request({ lasting, messages: [said('go on')], ...fields }))));
    const tools = [{ name: 'weather', description: 'The weather', parameters: { type: 'object' } }];
    expect(bodyOf({ tools })).toMatchObject({ model: 'm', tools: [{ function: tools[0] }] });
    expect(bodyOf({ model: 'other' })).toEqual({
      ...bodyOf({ messages: [...lasting, said('go on')], lasting: [], model: 'other' }),
    });
    expect(bodyOf({})).not.toHaveProperty('tools');
  });
});
