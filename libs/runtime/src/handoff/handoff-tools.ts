import type { ToolSpec } from '@mailroom/contracts';
import type { Seat } from '../team';

export const ANSWER_QUESTION = 'answer_question';

const PARAMETERS = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What to do, with everything that is needed to do it' },
    context: { type: 'string', description: 'Additional material (optional)' },
  },
  required: ['task'],
  additionalProperties: false,
};

const ANSWER: ToolSpec = {
  name: ANSWER_QUESTION,
  description:
    'Answers a question that a colleague asked instead of reporting; returns what the colleague reports then.',
  parameters: {
    type: 'object',
    properties: {
      question: { type: 'string', description: 'msgId of the question' },
      answer: { type: 'string', description: 'The answer' },
    },
    required: ['question', 'answer'],
    additionalProperties: false,
  },
};

/** One tool for each colleague that a seat may call, and one to answer their questions (seed 003 §3). */
export function handoffTools({ callees }: Seat): ToolSpec[] {
  if (callees.length === 0) return [];
  const calls = callees.map(({ tool, description }) => ({ name: tool, description, parameters: PARAMETERS }));
  return [...calls, ANSWER];
}
