import type { AssistantEntry, ToolCall } from '@mailroom/contracts';
import type { StepEvent, StepPart } from '@mailroom/mailbox';
import type { Answered } from './answered';
import { callEvent } from './call-record';
import { calledPart } from './called-part';
import { blankReport, REPORT } from './handoff/report';
import { cutResult } from './result-text';

const NUDGE =
  'Your last answer was empty. Write a summary of what you found as plain text; it is what the reader gets. Call no tools.';
const NO_RESULT = 'The agent ended without a result: its last answers were empty.';
const EARLIER = '(The last answer of the agent was empty; this is its last text before.)';

/** The commit of a model's answer: journal, usage, messages, and whether the agent goes on, parks or has finished. */
export function answerPart(answered: Answered): StepPart {
  const { answer, call, calls, step, inbox, last } = answered;
  const assistant: AssistantEntry = {
    kind: 'assistant',
    step,
    runId: inbox.runId ?? '',
    openTasks: inbox.tasks.filter((task) => task.read).map((task) => task.id),
    content: answer.content,
    ...(answer.reasoning !== undefined && { reasoning: answer.reasoning }),
    toolCalls: [...calls],
    model: answer.model,
    usage: answer.usage,
    ...(last && { last: true }),
  };
  const part: StepPart = {
    step,
    entries: [assistant],
    events: [...answered.told, ...calls.map((call) => toolStarted(call, step)), callEvent(answer, call)],
    sends: [],
    usage: call,
    park: 'no',
  };
  return calls.length === 0 ? { ...part, ...spoken(answered, assistant) } : calledPart(answered, part);
}

/** A step without tool calls: the result, the answer, or nothing to say (R10, R14). */
function spoken(answered: Answered, assistant: AssistantEntry): Partial<StepPart> {
  const { seat, inbox, memory, answer, last } = answered;
  const text = answer.content;
  const isEmpty = text.trim() === '';
  if (seat.reports && inbox.tasks.length > 0) return reported(answered, assistant);
  const isInterim = seat.role === 'lead' && inbox.tasks.length > 0;
  if (isEmpty && !isInterim && !last && !memory.wasTold('nudge'))
    return { entries: [assistant, { kind: 'engine', code: 'nudge', text: NUDGE }] };
  if (seat.role === 'lead') {
    const reason = inbox.final ?? (isEmpty && !isInterim ? 'empty_answer' : undefined);
    return { settle: { status: 'completed', force: false, text: isEmpty ? '' : text, ...(reason && { reason }) } };
  }
  const earlier = inbox.tasks[0] && memory.lastText(inbox.tasks[0].id);
  const fallback = earlier ? `${earlier}\n\n${EARLIER}` : NO_RESULT;
  return {
    final: { status: isEmpty || last ? 'partial' : 'ok', force: last, text: cutResult(isEmpty ? fallback : text) },
    ...(last && { leave: 'max_steps' as const }),
  };
}

/** The text of a colleague that was called as a tool: its report, or what it says before it is asked for one. */
function reported({ seat, inbox, memory, answer, last }: Answered, assistant: AssistantEntry): Partial<StepPart> {
  const isEmpty = answer.content.trim() === '';
  if (last) {
    const isCutShort = memory.wasTold('limit');
    const text = isEmpty ? blankReport(seat.address) : cutResult(answer.content);
    return {
      final: { status: isEmpty || isCutShort ? 'partial' : 'ok', force: true, text },
      ...(isCutShort && { leave: 'max_steps' as const }),
    };
  }
  // While its own question is open it waits for the answer, and the text is progress (R10).
  if (!isEmpty && inbox.questions.some(({ from }) => from === seat.address))
    return { final: { status: 'ok', force: false, text: cutResult(answer.content) } };
  return { entries: [assistant, REPORT] };
}

function toolStarted(call: ToolCall, step: number): StepEvent {
  return { code: 'ts', data: { toolCallId: call.id, name: call.name, arguments: call.arguments, step } };
}
