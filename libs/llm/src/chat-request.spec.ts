import type { ToolSpec } from '@mailroom/contracts';
import { chatRequest } from './chat-request';
import type { ChatMessage } from './model-client';

function body(messages: ChatMessage[], { sendReasoning = true, tools = [] as ToolSpec[] } = {}) {
  const signal = new AbortController().signal;
  return chatRequest({ model: 'm', messages, tools, silenceMs: 1, callMs: 1, signal }, sendReasoning);
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
