import type { Tool } from '@mailroom/capabilities';
import type { ModelClient } from '@mailroom/llm';
import type { DueIndex, Lease, Mailbox, StepPart } from '@mailroom/mailbox';
import type { Queue } from 'bullmq';
import type { AgentHost } from './agent-host';
import type { Actions } from './probe';

const leaseFacts = ({ sessionId, agent, epoch, token }: Lease) => ({ sessionId, agent, epoch, token });

/** Which part of a step a commit writes: what ends a task or a run · an answer · a tool result · anything else. */
function commitName(part: StepPart): string {
  if (part.final || part.settle || part.sends.some(({ type }) => type === 'result')) return 'commit.final';
  if (part.closes !== undefined) return 'commit.tool';
  return part.entries.some(({ kind }) => kind === 'assistant') ? 'commit.answer' : 'commit.other';
}

export const MAILBOX_ACTIONS: Actions<Mailbox> = {
  openSession: ({ id }) => ({ op: 'open', facts: { sessionId: id } }),
  send: (sessionId, { from, to, type, msgId }) => ({
    op: 'send',
    facts: { sessionId, from, to, type, msgId },
    told: ({ msgId: given, runId, seq }) => ({ msgId: given, runId, seq }),
  }),
  claim: ({ sessionId, agent, epoch }, { token }) => ({
    op: 'claim',
    facts: { sessionId, agent, epoch, token },
    told: (claim) => ({ claimed: claim !== undefined }),
  }),
  readInbox: (lease, known) => ({
    op: 'drain',
    facts: { ...leaseFacts(lease), known },
    told: (inbox) => ({ entries: inbox.entries.length, step: inbox.step, tail: inbox.tail }),
  }),
  commit: (fence, part) => ({
    op: commitName(part),
    facts: {
      ...leaseFacts(fence),
      commit: fence.n,
      step: part.step,
      closes: part.closes,
      sends: part.sends.map(({ msgId }) => msgId),
    },
    told: ({ left, settled }) => ({ left, settled }),
  }),
  emit: (fence, number) => ({ op: 'emit', facts: { ...leaseFacts(fence), number } }),
  exit: (lease, reason) => ({
    op: 'exit',
    facts: { ...leaseFacts(lease), reason },
    told: (hasLeft) => ({ left: hasLeft }),
  }),
  release: (lease, reason) => ({ op: 'release', facts: { ...leaseFacts(lease), reason } }),
};

export const MODEL_ACTIONS: Actions<ModelClient> = { complete: () => ({ op: 'model', facts: {} }) };

export const QUEUE_ACTIONS: Actions<Pick<Queue, 'add'>> = {
  add: (_name, data) => ({ op: 'enqueue', facts: data as Record<string, unknown> }),
};

export const HOST_ACTIONS: Actions<AgentHost> = {
  process: ({ sessionId, agent, epoch }) => ({ op: 'job', facts: { sessionId, agent, epoch } }),
};

export const SWEEP_ACTIONS: Actions<DueIndex> = { sweep: (entry) => ({ op: 'sweep', facts: { ...entry } }) };

/** Of one tool. */
export function toolActions(name: string): Actions<Tool> {
  return {
    execute: (_args, { sessionId, agent, idempotencyKey }) => ({
      op: 'tool',
      facts: { sessionId, agent, tool: name, key: idempotencyKey },
    }),
  };
}
