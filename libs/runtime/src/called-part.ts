import { type JournalEntry, LIMITS, type ToolCall } from '@mailroom/contracts';
import type { OutgoingAnswer, OutgoingHandoff, OutgoingMessage, StepEvent, StepPart } from '@mailroom/mailbox';
import type { Answered } from './answered';
import { deniedPart } from './handoff/denied-part';
import { decideHandoff } from './handoff/handoff-calls';
import { ANSWER_QUESTION, handoffTools } from './handoff/handoff-tools';
import { READ_MESSAGE, readMessage, readTools } from './history/read-message';
import { messageTools, SEND_MESSAGE, WAIT_FOR_MESSAGES } from './mail/message-tools';
import { addressAnswer, addressMessage } from './mail/outgoing-mail';

const NOT_RUN = 'Not run: the handoff policy ended this work.';

/** A step with tool calls: messages and calls of colleagues go out with the commit, ordinary tools stay open (R9). */
export function calledPart(answered: Answered, part: StepPart): StepPart {
  const sorted = new SortedCalls(answered, part);
  answered.calls.forEach((call, i) => {
    sorted.take(call, i);
  });
  return sorted.part();
}

class SortedCalls {
  private readonly entries: JournalEntry[];
  private readonly events: StepEvent[];
  private readonly sends: OutgoingMessage[] = [];
  private readonly handoffs: OutgoingHandoff[] = [];
  private readonly answers: OutgoingAnswer[] = [];
  private readonly open: string[] = [];
  private readonly waits: ToolCall[] = [];
  private readonly offered: readonly string[];
  private isRefused = false;
  private hasRead = false;
  private denied: string | undefined;

  constructor(
    private readonly answered: Answered,
    private readonly begun: StepPart,
  ) {
    const { seat, tools, memory, window } = answered;
    this.entries = [...begun.entries];
    this.events = [...begun.events];
    const own = [...handoffTools(seat), ...messageTools(seat), ...readTools(memory, window)].map((tool) => tool.name);
    this.offered = [...own, ...tools.specs(seat.definition?.tools ?? []).specs.map((spec) => spec.name)];
  }

  take(call: ToolCall, index: number): void {
    const { seat, sessionId, step } = this.answered;
    const most = seat.definition?.maxCallsPerStep ?? LIMITS.callsPerStep;
    const callee = seat.callees.find(({ tool }) => tool === call.name);
    if (index >= most)
      this.fail(call, `Not run: one answer may have ${most} calls. Call it again in your next step.`, 'too_many_calls');
    else if (!this.offered.includes(call.name))
      this.fail(
        call,
        `There is no tool "${call.name}". Available: ${this.offered.join(', ') || 'none'}.`,
        'unknown_tool',
      );
    else if (callee) this.handOff(call, callee, index);
    else if (call.name === SEND_MESSAGE) {
      const addressed = addressMessage(call, seat, sessionId, step);
      if (addressed.ok) this.sends.push(addressed.message);
      else {
        const { code, to, type } = addressed.entry;
        this.refuse(call, addressed.entry, code);
        this.events.push({ code: 'ae', data: { code, message: 'refused', to, type } });
      }
    } else if (call.name === ANSWER_QUESTION && seat.callees.length > 0) {
      const addressed = addressAnswer(call, seat, sessionId, step);
      if (addressed.ok) this.answers.push(addressed.answer);
      else this.refuse(call, addressed.entry, addressed.entry.code);
    } else if (call.name === READ_MESSAGE) {
      const { memory, window } = this.answered;
      this.hasRead = true;
      this.entries.push({ kind: 'tool', callId: call.id, ...readMessage(call, memory, window) });
      this.events.push(toolFinished(call, step, { outcome: 'read' }));
    } else if (call.name === WAIT_FOR_MESSAGES) this.waits.push(call);
    else this.open.push(call.id);
  }

  part(): StepPart {
    if (this.denied !== undefined) return this.deniedPart(this.denied);
    const { seat, calls, step } = this.answered;
    const goesOn = this.isRefused || this.hasRead || this.open.length > 0;
    for (const call of this.waits) {
      const content = goesOn
        ? 'Not parked: look at the results of this step first.'
        : 'You were parked until mail came.';
      this.entries.push({ kind: 'tool', callId: call.id, content });
      this.events.push(toolFinished(call, step, { outcome: content }));
    }
    const onlyReports =
      calls.length === this.sends.length && this.sends.every(({ type }) => type === 'clarify' || type === 'result');
    const parksWhenDone = seat.role === 'sub-agent' && onlyReports;
    return {
      ...this.begun,
      entries: this.entries,
      events: this.events,
      sends: this.sends,
      ...(this.handoffs.length > 0 && { handoffs: this.handoffs }),
      ...(this.answers.length > 0 && { answers: this.answers }),
      ...(this.open.length > 0 && { open: this.open }),
      park: goesOn ? 'no' : this.waits.length > 0 ? 'yes' : parksWhenDone ? 'if_done' : 'no',
    };
  }

  private handOff(call: ToolCall, callee: Parameters<typeof decideHandoff>[0]['callee'], index: number): void {
    const { seat, sessionId, step, memory, calls, tools, filters } = this.answered;
    const inThisStep = calls.slice(0, index + 1).filter(({ name }) => name === call.name).length;
    const number = memory.callsNamed(call.name) + inThisStep;
    const decision = decideHandoff({ call, callee, seat, sessionId, step, number, tools, filters });
    if (decision.kind === 'call') {
      this.handoffs.push(decision.handoff);
      return;
    }
    this.events.push(...decision.events);
    if (decision.kind === 'own-tool') this.open.push(call.id);
    else if (decision.kind === 'deny') this.denied ??= decision.reason;
    else this.refuse(call, decision.entry, decision.entry.content);
  }

  /** Nothing is sent and nothing is run; every call has its result, so that the history stays legal. */
  private deniedPart(reason: string): StepPart {
    const { calls, seat } = this.answered;
    const told = new Set(this.entries.flatMap((entry) => ('callId' in entry ? [entry.callId] : [])));
    const rest = calls
      .filter(({ id }) => !told.has(id))
      .map(({ id }): JournalEntry => ({ kind: 'tool', callId: id, content: NOT_RUN, error: true }));
    return { ...this.begun, entries: [...this.entries, ...rest], events: this.events, ...deniedPart(seat, reason) };
  }

  private fail(call: ToolCall, content: string, code: string): void {
    this.refuse(call, { kind: 'tool', callId: call.id, content, error: true }, code);
  }

  private refuse(call: ToolCall, entry: JournalEntry, outcome: string): void {
    this.isRefused = true;
    this.entries.push(entry);
    this.events.push(toolFinished(call, this.answered.step, { outcome, error: true }));
  }
}

function toolFinished(call: ToolCall, step: number, result: { outcome: string; error?: boolean }): StepEvent {
  return { code: 'tr', data: { toolCallId: call.id, name: call.name, ...result, step } };
}
