import { type CallRecord, LEAD } from '@mailroom/contracts';
import type { ModelAnswer, ModelError, PriceTable } from '@mailroom/llm';
import type { Inbox, StepEvent } from '@mailroom/mailbox';
import type { Seat } from './team';

/** Whose call it was: an agent, at a step. */
interface Caller {
  seat: Seat;
  inbox: Inbox;
  /** The model that was asked for. */
  model: string;
}

/** The record of a call that was answered, with its cost where the model has a price (R21). */
export function answeredCall(caller: Caller, answer: ModelAnswer, prices: Pick<PriceTable, 'costOf'>): CallRecord {
  const { usage, responseId } = answer;
  // A server that tells no usage is read as 0 and 0, and no prompt is empty.
  const isTold = usage.input > 0 || usage.output > 0;
  const cost = isTold ? prices.costOf(usage, answer.model, caller.model) : undefined;
  const record = callOf(caller, answer.model, 'ok', answer.attempts);
  if (responseId !== undefined) record.responseId = responseId;
  if (isTold) {
    record.input = usage.input;
    record.output = usage.output;
    if (usage.cached !== undefined) record.cached = usage.cached;
    if (usage.reasoning !== undefined) record.reasoning = usage.reasoning;
  }
  if (cost !== undefined) record.cost = cost;
  record.latencyMs = Math.round(answer.latencyMs);
  return record;
}

/** The record of a call that ended without an answer: what it cost is unknown. */
export function failedCall(caller: Caller, { attempts }: ModelError): CallRecord {
  return callOf(caller, caller.model, 'failed', attempts);
}

/** The event of an answered call. */
export function callEvent({ model, usage, attempts }: ModelAnswer, { cost, latencyMs, step }: CallRecord): StepEvent {
  const data = { model, ...usage, ...(cost !== undefined && { cost }), latencyMs, step, attempt: attempts };
  return { code: 'u', data };
}

function callOf({ seat, inbox }: Caller, model: string, status: CallRecord['status'], attempts: number): CallRecord {
  const task = seat.role === 'lead' ? undefined : inbox.tasks.find(({ read }) => read);
  const record: CallRecord = {
    agent: agentOf(seat),
    instance: seat.address,
    step: inbox.step + 1,
    model,
    status,
    attempts,
  };
  if (seat.reports) record.parent = seat.caller;
  if (task) record.taskId = task.id;
  return record;
}

/** The id of the definition behind a seat, as the session writes it; scripts that write a row read the same. */
function agentOf({ address, membership }: Seat): string {
  if (address === LEAD) return membership.leadAgentId;
  return membership.instance?.agent ?? membership.roster.find(({ as }) => as === address)?.agent ?? address;
}
