import { AppError } from '@mailroom/contracts';
import { z } from 'zod';
import type { Tool } from './tool';
import { ToolRegistry } from './tool-registry';

const tool = (name: string, parameters: z.ZodType = z.object({})): Tool => ({
  name,
  description: `describes ${name}`,
  parameters,
  idempotent: true,
  execute: () => name,
});

describe('the tool registry', () => {
  it('tells a model what a tool takes; a field with a default is optional', () => {
    const parameters = z.object({
      path: z.string().describe('where'),
      lines: z.array(z.int()),
      limit: z.number().default(3),
    });
    const { specs } = new ToolRegistry([tool('read', parameters)]).specs(['read']);
    expect(specs).toEqual([
      {
        name: 'read',
        description: 'describes read',
        parameters: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'where' },
            lines: { type: 'array', items: expect.objectContaining({ type: 'integer' }) },
            limit: { type: 'number', default: 3 },
          },
          required: ['path', 'lines'],
        },
      },
    ]);
  });

  it('answers with each name once, in the order asked, and reports the names that nobody knows', () => {
    const registry = new ToolRegistry([tool('a'), tool('b')]);
    const { specs, unknown } = registry.specs(['b', 'Teleport', 'a', 'b', 'Teleport']);
    expect(specs.map(({ name }) => name)).toEqual(['b', 'a']);
    expect(unknown).toEqual(['Teleport']);
    expect(registry.names()).toEqual(['a', 'b']);
    expect(registry.get('a')?.name).toBe('a');
    expect(registry.get('constructor')).toBeUndefined();
  });

  it('takes the name of a handoff tool: such a tool is what a handoff falls back to', () => {
    expect(new ToolRegistry([tool('subagent_bob')]).names()).toEqual(['subagent_bob']);
  });

  it.each([
    ['a name that is taken', [tool('a'), tool('a')], /"a" is refused: two tools/],
    ['an empty name', [tool('')], /1 to 64/],
    ['a name with a blank', [tool('read file')], /"read file" is refused: a name has/],
    ['a name of 65 letters', [tool('x'.repeat(65))], /1 to 64/],
    ['send_message', [tool('send_message')], /the runtime has a tool of this name/],
    ['wait_for_messages', [tool('wait_for_messages')], /the runtime has a tool of this name/],
    ['answer_question', [tool('answer_question')], /the runtime has a tool of this name/],
    ['read_message', [tool('read_message')], /the runtime has a tool of this name/],
    ['parameters that are no object', [tool('a', z.string())], /have to be a zod object/],
    ['parameters without a JSON schema', [tool('a', z.object({ when: z.date() }))], /no JSON schema/],
  ])('refuses %s', (_name, tools, message) => {
    expect(() => new ToolRegistry(tools)).toThrow(AppError);
    expect(() => new ToolRegistry(tools)).toThrow(message);
  });
});
