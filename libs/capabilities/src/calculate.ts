import { z } from 'zod';
import { evaluateArithmetic } from './arithmetic';
import type { Tool } from './tool';

const parameters = z.object({
  expression: z
    .string()
    .min(1)
    .max(1_000)
    .describe(
      'Arithmetic such as "round((12.5 + 3) * 1.19, 2)". Operators + - * / % ^, functions sqrt abs round min max',
    ),
});

/** The tool `calculate`: the value of an arithmetic expression. */
export const calculate: Tool<z.output<typeof parameters>> = {
  name: 'calculate',
  description:
    'Calculates an arithmetic expression exactly as written. Numbers have a point for decimals and no other separators.',
  parameters,
  idempotent: true,
  execute: ({ expression }) => {
    const { value, exact } = evaluateArithmetic(expression);
    const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(15)));
    return exact ? text : `about ${text}`;
  },
};
