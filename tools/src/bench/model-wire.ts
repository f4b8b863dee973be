import type { ScriptedAnswer } from './model-request';

const USAGE = { prompt_tokens: 500, completion_tokens: 60, total_tokens: 560 };

/** Which request is answered: a number of its own, and the model that it asked for. */
export interface Answering {
  number: number;
  model: string;
}

/** The answer as a stream of server-sent events: texts in pieces, as providers send them. */
export function streamedAnswer({ number, model }: Answering, { text = '', calls = [] }: ScriptedAnswer): string {
  const id = `c${number}`;
  const chunk = (body: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model, ...body })}\n\n`;
  const delta = (content: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason: finish }] });
  return [
    delta({ role: 'assistant', content: calls.length > 0 ? null : '' }),
    ...toolCalls(id, calls).map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
    ...(text.match(/.{1,24}/gs) ?? []).map((piece) => delta({ content: piece })),
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    chunk({ choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ].join('');
}

/** The answer as one JSON object. */
export function wholeAnswer({ number, model }: Answering, { text, calls = [] }: ScriptedAnswer): string {
  const id = `c${number}`;
  const message = {
    role: 'assistant',
    content: text ?? null,
    ...(calls.length > 0 && { tool_calls: toolCalls(id, calls) }),
  };
  const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' };
  return JSON.stringify({ id, object: 'chat.completion', created: 1, model, choices: [choice], usage: USAGE });
}

function toolCalls(id: string, calls: NonNullable<ScriptedAnswer['calls']>): object[] {
  return calls.map(({ name, args }, index) => {
    return { id: `call_${id}_${index}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  });
}
