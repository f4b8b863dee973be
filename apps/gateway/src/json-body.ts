import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, LIMITS } from '@mailroom/contracts';

/** Larger bodies are refused while they are read. */
export const BODY_LIMIT = '256kb';

/** Bodies that are taken for JSON; others count as absent. */
export const JSON_TYPES = ['application/json', 'application/*+json'];

/** Middleware: replaces the text of a JSON body by its value. */
export function parseJsonBody(
  request: IncomingMessage & { body?: unknown },
  _response: ServerResponse,
  next: (error?: unknown) => void,
): void {
  try {
    if (typeof request.body === 'string')
      request.body = request.body.trim() === '' ? undefined : parseJson(request.body);
    next();
  } catch (error) {
    next(error);
  }
}

/** Throws `invalid_request` for text that is no JSON, or is nested deeper than 32 (R7), which is found before parsing. */
export function parseJson(text: string): unknown {
  if (depthOf(text) > LIMITS.jsonDepth)
    throw new AppError('invalid_request', `the JSON is nested deeper than ${LIMITS.jsonDepth}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid JSON', { cause });
  }
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isInString) {
      if (char === '\\') i++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth);
    else if (char === '}' || char === ']') depth--;
  }
  return deepest;
}
