import type { ToolRegistry } from '@mailroom/capabilities';
import { LIMITS, type ToolCall, type ToolEntry, toAppError } from '@mailroom/contracts';
import { derivedMessageId, type OutgoingHandoff, type StepEvent } from '@mailroom/mailbox';
import type { Seat } from '../team';
import { addressOf, type Callee } from './callees';
import { type HandoffInput, readHandoffInput } from './handoff-arguments';
import { denialOf } from './handoff-policy';
import { handoffError } from './handoff-result';
import type { InputFilters } from './input-filters';

/** What becomes of a call of a colleague before anything is sent. */
export type HandoffDecision =
  | { kind: 'call'; handoff: OutgoingHandoff }
  /** The caller's own tool of that name answers. */
  | { kind: 'own-tool'; events: StepEvent[] }
  | { kind: 'result'; entry: ToolEntry; events: StepEvent[] }
  /** The policy ends the caller's work. */
  | { kind: 'deny'; reason: string; events: StepEvent[] };

export interface HandoffCall {
  call: ToolCall;
  callee: Callee;
  seat: Seat;
  sessionId: string;
  step: number;
  /** Of the calls of this tool that the caller ever made: counts its instances. */
  number: number;
  tools: ToolRegistry;
  filters: InputFilters;
}

/** Applies the policy to one call: who may be called, with what, and what happens when not (seed 003 §5). */
export function decideHandoff(request: HandoffCall): HandoffDecision {
  const { call, callee, seat, sessionId } = request;
  const { tool, policy, depth, maxDepth } = callee;
  const denial = denialOf(policy, tool, depth, { maxDepth, cap: seat.depthCap });
  if (denial !== undefined) {
    const reason = `the handoff policy denied ${tool}: ${denial}`;
    const events = ended(request, 'denied', reason);
    if (!policy.enabled || policy.onDenied === 'fail') return { kind: 'deny', reason, events };
    if (hasOwnTool(request)) return { kind: 'own-tool', events: ended(request, 'fallback', reason) };
    return { kind: 'result', entry: failure(call, 'handoff_denied', `${reason}; ${NO_PRIMARY}`, tool), events };
  }

  let input: HandoffInput;
  try {
    input = readHandoffInput(call.arguments);
    if (policy.enabled)
      input = request.filters.apply(policy.inputFilter, input, { sessionId, agent: seat.address, tool });
  } catch (thrown) {
    return unfit(request, `the input filter of ${tool} failed: ${reasonOf(thrown)}`);
  }
  if (input.task.trim() === '') return unfit(request, `${tool} needs a task: say in "task" what is to be done`);
  if (Buffer.byteLength(input.task) + Buffer.byteLength(input.context ?? '') > LIMITS.bodyBytes)
    return unfit(request, `task and context together have more than ${LIMITS.bodyBytes} bytes: send less, or in parts`);
  return { kind: 'call', handoff: outgoing(request, input) };
}

const NO_PRIMARY = 'no primary tool is available. Go on without it';

function outgoing(request: HandoffCall, input: HandoffInput): OutgoingHandoff {
  const { call, callee, seat, sessionId, step, number } = request;
  const { policy } = callee;
  const fallsBack = policy.enabled && policy.onError === 'fallback_to_primary' && hasOwnTool(request);
  return {
    callId: call.id,
    id: derivedMessageId(sessionId, seat.address, step, call.id, 'handoff').replace('msg_', 'hof_'),
    tool: callee.tool,
    to: addressOf(callee, seat.address, number),
    agent: callee.agent,
    mode: callee.mode,
    depth: callee.depth,
    maxDepth: callee.maxDepth,
    max: policy.enabled ? policy.maxRetries + 1 : 1,
    timeoutMs: policy.timeoutMs,
    fallback: fallsBack,
    content: input.task,
    ...(input.context !== undefined && { context: input.context }),
  };
}

/** An error before the first attempt: an execution error, so the policy's `onError` decides. */
function unfit(request: HandoffCall, error: string): HandoffDecision {
  const { call, callee } = request;
  const falls = callee.policy.enabled && callee.policy.onError === 'fallback_to_primary';
  if (falls && hasOwnTool(request)) return { kind: 'own-tool', events: ended(request, 'fallback', error) };
  return {
    kind: 'result',
    entry: failure(call, 'handoff_failed', falls ? `${error}; ${NO_PRIMARY}` : error, callee.tool),
    events: ended(request, 'failed', error),
  };
}

function hasOwnTool({ seat, callee, tools }: HandoffCall): boolean {
  return seat.definition?.tools.includes(callee.tool) === true && tools.get(callee.tool) !== undefined;
}

function failure(call: ToolCall, errorType: string, error: string, tool: string): ToolEntry {
  return { kind: 'tool', callId: call.id, content: handoffError(errorType, error, tool, call.id), error: true };
}

function ended({ call, callee, seat, number }: HandoffCall, status: string, error: string): StepEvent[] {
  const common = {
    callId: call.id,
    tool: callee.tool,
    to: addressOf(callee, seat.address, number),
    depth: callee.depth,
    sessionMode: callee.mode,
  };
  return [
    { code: 'hs', data: { ...common, status: 'starting' } },
    { code: 'he', data: { ...common, status, attempts: 0, durationMs: 0, content: error } },
  ];
}

function reasonOf(thrown: unknown): string {
  const known = toAppError(thrown);
  if (known.code !== 'internal') return known.message;
  return thrown instanceof Error ? thrown.message.slice(0, 500) : 'unknown reason';
}
