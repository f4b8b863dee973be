import { randomUUID } from 'node:crypto';
import type { ScriptedAnswer } from './scripted-answer';

/** The one model of this server. */
export const MODEL_ID = 'scripted';

const PIECE_LENGTH = 24;

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** Tokens are characters divided by four, rounded up; of the request body as it came, and of texts and calls. */
export function countUsage(requestBody: string, answer: ScriptedAnswer): CompletionUsage {
  const said =
    answer.content.length + answer.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  const [prompt, completion] = [Math.ceil(requestBody.length / 4), Math.ceil(said / 4)];
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** The body of an answer that is not streamed. */
export function completionBody(id: string, answer: ScriptedAnswer, usage: CompletionUsage): object {
  const calls = answer.calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  return {
    ...head(id, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer.content || null, ...(calls.length > 0 && { tool_calls: calls }) },
        finish_reason: finishReason(answer),
      },
    ],
    usage,
  };
}

/** The chunks of a streamed answer, in order; `usage` is the last one's when the client asked for it. */
export function completionChunks(id: string, answer: ScriptedAnswer, usage: CompletionUsage | undefined): object[] {
  const envelope = { ...head(id, 'chat.completion.chunk'), ...(usage && { usage: null }) };
  const chunk = (delta: object, finish: string | null = null) => ({
    ...envelope,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...cutPieces(answer.content).map((content) => chunk({ content })),
    ...answer.calls.flatMap(({ id, name, arguments: args }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...cutPieces(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finishReason(answer)),
    ...(usage ? [{ ...envelope, choices: [], usage }] : []),
  ];
}

/** Pieces of 24 characters; a character is a code point, so no piece ends inside one. */
function cutPieces(text: string): string[] {
  const points = [...text];
  const pieces: string[] = [];
  for (let start = 0; start < points.length; start += PIECE_LENGTH)
    pieces.push(points.slice(start, start + PIECE_LENGTH).join(''));
  return pieces;
}

/** The id of an answer, new each time. */
export function completionId(): string {
  return `chatcmpl-${randomUUID().replaceAll('-', '')}`;
}

function head(id: string, object: string): object {
  return { id, object, created: Math.floor(Date.now() / 1000), model: MODEL_ID };
}

function finishReason(answer: ScriptedAnswer): string {
  return answer.calls.length > 0 ? 'tool_calls' : 'stop';
}
