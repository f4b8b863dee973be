import { randomUUID } from 'node:crypto';
import type { ToolCall } from '@mailroom/contracts';

interface OpenCall extends ToolCall {
  index: number | undefined;
}

/**
 * Puts the tool calls of one answer together from the fragments of its stream. Servers leave `index` out, send 0 for
 * every call, repeat or change ids, or send none; so:
 * - a new id together with a name opens a call, whatever the index says;
 * - the entries of one delta are different calls;
 * - a fragment without id and name continues the call of its index, or the call opened last;
 * - id and name are set once, never appended; empty text means absent.
 */
export class ToolCallAssembly {
  private readonly calls: OpenCall[] = [];

  /** Takes the `tool_calls` of one delta. */
  take(entries: readonly unknown[]): void {
    const taken: OpenCall[] = [];
    for (const entry of entries) {
      const fragment = readFragment(entry);
      let call = this.continued(fragment, taken);
      if (!call) {
        call = { id: '', name: '', arguments: '', index: fragment.index };
        this.calls.push(call);
      }
      call.id ||= fragment.id;
      call.name ||= fragment.name;
      call.arguments += fragment.arguments;
      taken.push(call);
    }
  }

  /** True when a call ended in the middle of its arguments. */
  get isCut(): boolean {
    return this.calls.some((call) => call.arguments.trim() !== '' && !isJson(call.arguments));
  }

  /** The calls in the order in which they were opened. Ids are unique; no arguments are `{}`. */
  finish(): ToolCall[] {
    const ids = new Set<string>();
    return this.calls.map((call) => {
      const id = call.id === '' || ids.has(call.id) ? `call_${randomUUID().replaceAll('-', '')}` : call.id;
      ids.add(id);
      return { id, name: call.name, arguments: call.arguments.trim() === '' ? '{}' : call.arguments };
    });
  }

  private continued(fragment: OpenCall, taken: readonly OpenCall[]): OpenCall | undefined {
    const { id, name, index } = fragment;
    const find = (fits: (call: OpenCall) => boolean) =>
      this.calls.findLast((call) => !taken.includes(call) && fits(call));
    if (id !== '') {
      const same = find((call) => call.id === id && (name === '' || hasIndex(call, index)));
      if (same) return opensAnother(same, fragment) ? undefined : same;
      if (name !== '') return undefined;
    }
    const near = find((call) => index === undefined || call.index === index);
    if (id === '' && name === '') return near ?? this.calls.at(-1);
    return near && !opensAnother(near, fragment) ? near : undefined;
  }
}

/** A name on a fragment for a call that is whole already, or has another name, can only mean the next call. */
function opensAnother(call: OpenCall, fragment: OpenCall): boolean {
  if (fragment.name === '' || call.name === '') return false;
  return fragment.name !== call.name || (fragment.arguments !== '' && isJson(call.arguments));
}

function hasIndex(call: OpenCall, index: number | undefined): boolean {
  return call.index === undefined || index === undefined || call.index === index;
}

function readFragment(entry: unknown): OpenCall {
  const { index, id, function: called } = fieldsOf(entry);
  const { name, arguments: sent } = fieldsOf(called);
  return {
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    // Some servers send the arguments as an object; the history of the next request must hold a string.
    arguments: typeof sent === 'string' ? sent : sent == null ? '' : JSON.stringify(sent),
    index: typeof index === 'number' ? index : undefined,
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
