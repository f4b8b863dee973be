import type { AgentDefinition, ToolSpec } from '@mailroom/contracts';
import type { ChatMessage } from '@mailroom/llm';
import type { Inbox, StepPart } from '@mailroom/mailbox';
import { handoffTools } from './handoff/handoff-tools';
import { type Compaction, planCompaction } from './history/compaction';
import { type Frame, outgrows, windowBelow, windowOf } from './history/context-window';
import { countMessages } from './history/history-blocks';
import { readTools } from './history/read-message';
import { messageTools } from './mail/message-tools';
import type { Memory } from './memory';
import { factsTable } from './prompt/facts-table';
import { renderPrompt } from './prompt/prompt';
import { systemPrompt } from './prompt/system-prompt';
import type { RunDeps } from './run-deps';
import type { Seat } from './team';

/** All that a step sends to the model, but for the history, and the window that it has to fit into. */
export interface StepRequest extends Frame {
  /** Tokens; undefined: unknown. */
  window: number | undefined;
  silenceMs: number;
  callMs: number;
}

/** Who is about to make a step, and from what. */
export interface Stepper {
  seat: Seat;
  inbox: Inbox;
  memory: Memory;
}

type Needs = Pick<RunDeps, 'tools' | 'settings' | 'prices'>;

export function stepRequest(
  { tools, settings, prices }: Needs,
  definition: AgentDefinition,
  { seat, inbox, memory }: Stepper,
  last: boolean,
): StepRequest {
  const window = windowOf(definition, { settings, prices }, memory);
  return {
    model: definition.model ?? settings.model,
    system: systemPrompt(definition, seat),
    tools: last ? [] : [...toolsOf(tools, seat, definition), ...readTools(memory, window)],
    tail: seat.role === 'lead' ? factsTable(inbox, memory.messages, new Date()) : undefined,
    window,
    silenceMs: definition.modelSilenceMs ?? settings.modelSilenceMs,
    callMs: definition.modelCallMs ?? settings.modelCallMs,
  };
}

/** A colleague's tool takes the place of the caller's own tool of that name. */
function toolsOf(tools: Needs['tools'], seat: Seat, definition: AgentDefinition): ToolSpec[] {
  const calls = handoffTools(seat);
  const own = tools.specs(definition.tools).specs.filter(({ name }) => !calls.some((call) => call.name === name));
  return [...calls, ...messageTools(seat), ...own];
}

/** What has to be summarised before the agent's next model call; undefined: it fits, or nobody knows. */
export function overgrown(deps: Needs, stepper: Stepper): Compaction | undefined {
  const { seat, inbox, memory } = stepper;
  if (!seat.definition || windowOf(seat.definition, deps, memory) === undefined) return undefined;
  const request = stepRequest(deps, seat.definition, stepper, false);
  const { window } = request;
  if (window === undefined || !outgrows(request, memory, window)) return undefined;
  return planCompaction(inbox, memory, request, window);
}

/** The commit of a request that was refused for its length, so that the next one is shorter; undefined: it cannot be. */
export function refusal(request: StepRequest, inbox: Inbox, memory: Memory): StepPart | undefined {
  const tools: ChatMessage = { role: 'system', content: JSON.stringify(request.tools) };
  const count = (window: number | undefined) => {
    const { lasting, messages } = renderPrompt(request.system, memory, request.tail, window);
    return countMessages(lasting) + countMessages(messages) + countMessages([tools]);
  };
  const tokens = count(request.window);
  const window = windowBelow(tokens);
  const isShorter = planCompaction(inbox, memory, request, window) !== undefined || count(window) < tokens * 0.95;
  return isShorter ? overflowPart(request.model, tokens, inbox) : undefined;
}

/** Notes in the journal how much was too much. The call counts as made, so that a budget ends what never fits. */
export function overflowPart(model: string, tokens: number, inbox: Inbox): StepPart {
  const runId = inbox.runId ?? '';
  return {
    step: inbox.step + 1,
    entries: [{ kind: 'overflow', model, tokens, runId }],
    events: [],
    sends: [],
    park: 'no',
  };
}
