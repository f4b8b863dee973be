import { AppError, LIMITS } from '@mailroom/contracts';
import type { z } from 'zod';
import { readArguments } from './argument-reader';
import type { Tool, ToolContext, ToolOutcome } from './tool';
import { cutText, outcomeOfReturned, outcomeOfThrown } from './tool-outcome';
import { parameterSchema } from './tool-registry';

export interface ToolExecutionOptions {
  /** The limit of a call whose tool names none, in milliseconds; 30 s when absent (R13). */
  timeoutMs?: number;
  /** The most that the model gets to read of one result, in UTF-8 bytes; 64 KiB when absent. */
  resultBytes?: number;
}

/**
 * Runs one tool call and answers with a non-empty text, whatever happens. Never throws.
 *
 * Arguments that cannot be read or do not fit the schema are an error outcome, and the tool is not run. R13: at the
 * time limit, and as soon as `context.signal` is aborted, the signal that the tool got is aborted and the outcome is
 * an error; what the tool brings after that is dropped.
 */
export async function executeTool(
  tool: Tool,
  rawArguments: string,
  context: ToolContext,
  options: ToolExecutionOptions = {},
): Promise<ToolOutcome> {
  const outcome = await outcomeOf(tool, rawArguments, context, options).catch((thrown: unknown) =>
    outcomeOfThrown(tool.name, thrown),
  );
  return { ...outcome, content: cutText(outcome.content, options.resultBytes ?? LIMITS.bodyBytes) };
}

async function outcomeOf(
  tool: Tool,
  rawArguments: string,
  context: ToolContext,
  options: ToolExecutionOptions,
): Promise<ToolOutcome> {
  const read = readArguments(rawArguments);
  if (!read.ok) return refusal(tool, read.error);
  const checked = await tool.parameters.safeParseAsync(read.value);
  if (!checked.success) return refusal(tool, `the arguments do not fit: ${issuesOf(checked.error)}`);
  return withinLimit(tool, checked.data, context, tool.timeoutMs ?? options.timeoutMs ?? LIMITS.toolMs);
}

async function withinLimit(tool: Tool, args: unknown, context: ToolContext, limitMs: number): Promise<ToolOutcome> {
  if (context.signal.aborted) return stopped(tool, 'was not run, because its agent had been stopped');
  const stop = new AbortController();
  let end = (_reason: string): void => undefined;
  const ended = new Promise<ToolOutcome>((resolve) => {
    end = (reason) => {
      // Settled before the abort, so that what the tool answers to the abort comes too late.
      resolve(stopped(tool, reason));
      stop.abort(new AppError('tool_failed', `the tool "${tool.name}" ${reason}`));
    };
  });
  const onCancel = () => end('was stopped together with its agent; its effect is unknown');
  context.signal.addEventListener('abort', onCancel, { once: true });
  const timer = setTimeout(end, limitMs, `did not end within ${limitMs} ms and was stopped; its effect is unknown`);
  try {
    return await Promise.race([ended, attempt(tool, args, { ...context, signal: stop.signal })]);
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener('abort', onCancel);
  }
}

async function attempt(tool: Tool, args: unknown, context: ToolContext): Promise<ToolOutcome> {
  try {
    return outcomeOfReturned(tool.name, await tool.execute(args, context));
  } catch (thrown) {
    return outcomeOfThrown(tool.name, thrown);
  }
}

function stopped(tool: Tool, reason: string): ToolOutcome {
  return { content: `the tool "${tool.name}" ${reason}`, error: true };
}

function refusal(tool: Tool, problem: string): ToolOutcome {
  const schema = JSON.stringify(parameterSchema(tool));
  return {
    content: `the tool "${tool.name}" was not run: ${problem}. Expected is one JSON object that fits this schema: ${schema}`,
    error: true,
  };
}

function issuesOf(error: z.ZodError): string {
  const issues = error.issues.slice(0, 10).map(({ path, message }) => {
    const field = path.map(String).join('.');
    return field === '' ? message : `"${field}": ${message}`;
  });
  if (error.issues.length > issues.length) issues.push(`and ${error.issues.length - issues.length} more`);
  return issues.join('; ');
}
