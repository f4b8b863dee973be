import { getEventListeners } from 'node:events';
import { z } from 'zod';
import type { Tool, ToolContext } from './tool';
import { executeTool } from './tool-execution';

const readLines = z.object({ path: z.string(), lines: z.array(z.int()) });

function toolThat(execute: Tool['execute'], more: Partial<Tool> = {}): Tool {
  return { name: 'probe', description: '', parameters: z.object({}), idempotent: true, execute, ...more };
}

function contextWith(signal: AbortSignal = new AbortController().signal): ToolContext {
  return { sessionId: 's', agent: 'alice', idempotencyKey: 'k', signal };
}

describe('one tool call', () => {
  it('hands over the checked arguments and the context of the call', async () => {
    const seen: unknown[] = [];
    const tool = toolThat((args, { signal: _signal, ...context }) => seen.push(args, context), {
      parameters: readLines.extend({ limit: z.number().default(3) }),
    });
    expect(await executeTool(tool, "{'path': 'a', 'lines': [1,]}", contextWith())).toEqual({
      content: '2',
      error: false,
    });
    expect(seen).toEqual([
      { path: 'a', lines: [1], limit: 3 },
      { sessionId: 's', agent: 'alice', idempotencyKey: 'k' },
    ]);
  });

  it.each([
    ['no JSON', 'please read', /no readable JSON: expected a value.*position 0/],
    ['a wrong type', '{"path":["a"],"lines":[1]}', /"path": Invalid input: expected string, received array/],
    ['a missing field', '{"path":"a"}', /"lines": Invalid input/],
    ['the empty text', '', /"path": .*; "lines": /],
  ])('with %s the tool is not run; the error has the place and the schema', async (_name, raw, problem) => {
    let runs = 0;
    const outcome = await executeTool(
      toolThat(() => ++runs, { parameters: readLines }),
      raw,
      contextWith(),
    );
    expect(runs).toBe(0);
    expect(outcome.error).toBe(true);
    expect(outcome.content).toMatch(problem);
    expect(outcome.content).toContain('the tool "probe" was not run');
    expect(outcome.content).toContain('"required":["path","lines"]');
  });

  it('every way to fail is an error outcome, and nothing at all is visible', async () => {
    const failures: Tool['execute'][] = [
      () => {
        throw new Error('disk full');
      },
      async () => Promise.reject('plain string'),
      async () => Promise.reject(undefined),
      () => new Promise((_resolve, reject) => setImmediate(reject, 42)),
    ];
    const texts = await Promise.all(failures.map((execute) => executeTool(toolThat(execute), '{}', contextWith())));
    expect(texts).toEqual(
      ['disk full', 'plain string', 'no reason was given (undefined was thrown)', '42'].map((reason) => ({
        content: `the tool "probe" failed: ${reason}`,
        error: true,
      })),
    );
    expect(
      await executeTool(
        toolThat(async () => undefined),
        '{}',
        contextWith(),
      ),
    ).toEqual({ content: '(no output)', error: false });
  });

  it('a schema that throws is an error outcome', async () => {
    const parameters = z.object({}).transform(() => {
      throw new Error('the schema broke');
    });
    const outcome = await executeTool(
      toolThat(() => 'ran', { parameters }),
      '{}',
      contextWith(),
    );
    expect(outcome).toEqual({ content: 'the tool "probe" failed: the schema broke', error: true });
  });

  it('R13: at the limit the signal of the tool is aborted and what it brings later is dropped', async () => {
    let finish = (_text: string): void => undefined;
    let seen: AbortSignal | undefined;
    const tool = toolThat((_args, { signal }) => {
      seen = signal;
      return new Promise((resolve) => {
        finish = resolve;
        signal.addEventListener('abort', () => resolve('too late'));
      });
    });
    const outcome = await executeTool(tool, '{}', contextWith(), { timeoutMs: 5 });
    expect(outcome.content).toBe('the tool "probe" did not end within 5 ms and was stopped; its effect is unknown');
    expect(outcome.error).toBe(true);
    expect(seen?.aborted).toBe(true);
    finish('later still');
  });

  it('R13: a tool that fails after its limit leaves no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    let fail = (): void => undefined;
    const tool = toolThat(() => new Promise((_resolve, reject) => (fail = () => reject(new Error('late')))), {
      timeoutMs: 5,
    });
    expect((await executeTool(tool, '{}', contextWith())).error).toBe(true);
    fail();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('R13: the limit of the tool goes before the limit of the caller', async () => {
    const tool = toolThat(() => new Promise(() => undefined), { timeoutMs: 5 });
    expect((await executeTool(tool, '{}', contextWith(), { timeoutMs: 3_600_000 })).content).toContain('within 5 ms');
  });

  it('R19: an abort from outside ends the call at once, also when the tool does not listen', async () => {
    const stop = new AbortController();
    let seen: AbortSignal | undefined;
    const tool = toolThat((_args, { signal }) => {
      seen = signal;
      stop.abort();
      return new Promise(() => undefined);
    });
    const outcome = await executeTool(tool, '{}', contextWith(stop.signal));
    expect(outcome).toEqual({
      content: 'the tool "probe" was stopped together with its agent; its effect is unknown',
      error: true,
    });
    expect(seen?.aborted).toBe(true);
  });

  it('R19: a call that was aborted before it began is not run', async () => {
    let runs = 0;
    const outcome = await executeTool(
      toolThat(() => ++runs),
      '{}',
      contextWith(AbortSignal.abort()),
    );
    expect(runs).toBe(0);
    expect(outcome.error).toBe(true);
  });

  it('leaves no listener behind on the signal of the run', async () => {
    const { signal } = new AbortController();
    await executeTool(
      toolThat(() => 'done'),
      '{}',
      contextWith(signal),
    );
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('parallel calls are answered each for itself', async () => {
    const tools = [
      toolThat(() => new Promise((resolve) => setImmediate(resolve, 'slow'))),
      toolThat(() => Promise.reject(new Error('fails'))),
      toolThat(() => new Promise(() => undefined), { timeoutMs: 20 }),
      toolThat(() => 'fast'),
    ];
    const outcomes = await Promise.all(tools.map((tool) => executeTool(tool, '{}', contextWith())));
    expect(outcomes.map(({ content }) => content)).toEqual([
      'slow',
      'the tool "probe" failed: fails',
      'the tool "probe" did not end within 20 ms and was stopped; its effect is unknown',
      'fast',
    ]);
  });

  it('a result above 64 KiB is cut with a marker, an error text too', async () => {
    const long = 'x'.repeat(100_000);
    const { content } = await executeTool(
      toolThat(() => long),
      '{}',
      contextWith(),
    );
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(65_536);
    expect(content).toMatch(/\[cut here: the last \d+ of 100000 bytes are not shown\]$/);
    const failed = await executeTool(
      toolThat(() => Promise.reject(long)),
      '{}',
      contextWith(),
      { resultBytes: 1_000 },
    );
    expect(failed.error).toBe(true);
    expect(Buffer.byteLength(failed.content)).toBeLessThanOrEqual(1_000);
  });
});
