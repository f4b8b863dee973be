import { isAnyArrayBuffer } from 'node:util/types';
import type { ToolOutcome } from './tool';

/** What a tool that has nothing to say is quoted with: providers refuse an empty tool message. */
export const NO_OUTPUT = '(no output)';

/**
 * Whatever a tool returned as text for the model: strings as they are, other values as JSON (a Map as an object or as
 * pairs, a Set as a list), binary data as a note of kind and size, nothing as `(no output)`. A value that cannot be
 * serialised and a returned Error are error outcomes that name the tool. Never throws.
 */
export function outcomeOfReturned(toolName: string, value: unknown): ToolOutcome {
  if (value instanceof Error) return outcomeOfThrown(toolName, value);
  try {
    const text = textOf(value);
    return { content: text.trim() === '' ? NO_OUTPUT : text, error: false };
  } catch (thrown) {
    const reason = reasonOf(thrown);
    return { content: `the tool "${toolName}" ran, but its result cannot be shown as text: ${reason}`, error: true };
  }
}

/** Whatever a tool threw as an error outcome that names the tool and the reason. Never throws. */
export function outcomeOfThrown(toolName: string, thrown: unknown): ToolOutcome {
  return { content: `the tool "${toolName}" failed: ${reasonOf(thrown)}`, error: true };
}

/** The text cut to `maxBytes` of UTF-8 with a marker at its end that says how much is missing. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const markerRoom = 80;
  const kept = bytes.subarray(0, Math.max(0, maxBytes - markerRoom));
  // A streaming decoder leaves out the torn character at the end.
  const head = new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept, { stream: true });
  const missing = bytes.length - Buffer.byteLength(head);
  return `${head}\n[cut here: the last ${missing} of ${bytes.length} bytes are not shown]`;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  const note = binaryNote(value);
  if (note !== undefined) return note;
  const json = JSON.stringify(value, plainValue) as string | undefined;
  if (json === undefined) throw new TypeError(`a ${typeof value} has no JSON form`);
  return json;
}

/** JSON.stringify's replacer. `this` is the holder: a Buffer has become an object of numbers in `value` already. */
function plainValue(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  const note = binaryNote(original);
  if (note !== undefined) return note;
  if (value instanceof Set) return [...value];
  if (value instanceof Map) {
    const named = [...value.keys()].every((name) => typeof name === 'string');
    return named ? Object.fromEntries(value) : [...value];
  }
  return value;
}

function binaryNote(value: unknown): string | undefined {
  if (value instanceof Blob) return `(binary result: ${value.size} bytes, ${value.type || 'Blob'})`;
  if (!ArrayBuffer.isView(value) && !isAnyArrayBuffer(value)) return undefined;
  return `(binary result: ${value.byteLength} bytes, ${value.constructor.name})`;
}

function reasonOf(thrown: unknown): string {
  try {
    if (thrown === undefined || thrown === null) return `no reason was given (${thrown} was thrown)`;
    if (typeof thrown === 'object' && 'message' in thrown && typeof thrown.message === 'string') {
      return thrown.message.trim() || ('name' in thrown ? String(thrown.name) : 'no reason was given');
    }
    return textOf(thrown).trim() || 'no reason was given';
  } catch {
    return 'the thrown value cannot be shown as text';
  }
}
