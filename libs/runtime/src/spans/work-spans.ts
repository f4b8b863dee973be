import type { ActivationJob, AgentMessage, JournalEntry } from '@mailroom/contracts';
import type { Inbox } from '@mailroom/mailbox';
import { type Link, ROOT_CONTEXT, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { Memory } from '../memory';
import type { Seat } from '../team';
import { contextOf, failSpan } from './send-span';
import { StepSpans } from './step-spans';
import { spanContextOf } from './traceparent';

interface BegunStep {
  seat: Seat;
  inbox: Inbox;
  memory: Memory;
  /** True: a step that another host began. */
  isOld: boolean;
}

/**
 * The spans of one activation. `invoke_agent` lasts from the first step until the agent idles or leaves, and is the
 * child of what sent the mail that woke it; `process {address}` is a step that begins with mail, linked to each message.
 */
export class WorkSpans {
  private work: Span | undefined;

  constructor(
    private readonly tracer: Tracer,
    private readonly address: ActivationJob,
  ) {}

  /** Begins a step, and a stretch of work if none is on. */
  step({ seat, inbox, memory, isOld }: BegunStep): StepSpans {
    const mail = newMail(memory);
    const step = isOld ? inbox.step : inbox.step + 1;
    const runId = inbox.runId ?? '';
    this.work ??= this.begin(seat, runId, originOf(mail) ?? originOf([...memory.messages.values()].reverse()));
    return new StepSpans(this.tracer, {
      sessionId: this.address.sessionId,
      runId,
      step,
      agent: this.work,
      mail: mail.length > 0 ? this.receive(mail, this.work, runId, step) : undefined,
      caller: seat.caller,
      hasTask: inbox.tasks.some(({ read }) => read),
    });
  }

  /** Ends the stretch of work. `code`: why it failed. */
  rest(code?: string): void {
    if (this.work && code !== undefined) failSpan(this.work, code);
    this.work?.end();
    this.work = undefined;
  }

  private begin({ definition }: Seat, runId: string, origin: string | undefined): Span {
    const { sessionId, agent, epoch } = this.address;
    const name = definition?.name ?? definition?.id ?? agent;
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.agent.name': name,
      'gen_ai.agent.id': definition?.id ?? agent,
      'gen_ai.conversation.id': sessionId,
      'mailroom.address': agent,
      'mailroom.epoch': epoch,
      'mailroom.run.id': runId,
    };
    return this.tracer.startSpan(`invoke_agent ${name}`, { kind: SpanKind.INTERNAL, attributes }, contextOf(origin));
  }

  private receive(mail: readonly AgentMessage[], work: Span, runId: string, step: number): Span {
    const { sessionId, agent } = this.address;
    const links: Link[] = mail.flatMap(({ msgId, type, traceparent }) => {
      const context = spanContextOf(traceparent);
      return context ? [{ context, attributes: { 'messaging.message.id': msgId, 'mailroom.message.type': type } }] : [];
    });
    const attributes = {
      'messaging.system': 'mailroom',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': agent,
      'messaging.message.conversation_id': sessionId,
      'messaging.batch.message_count': mail.length,
      'mailroom.run.id': runId,
      'mailroom.step': step,
    };
    const options = { kind: SpanKind.CONSUMER, attributes, links };
    return this.tracer.startSpan(`process ${agent}`, options, trace.setSpan(ROOT_CONTEXT, work));
  }
}

/** The messages that came since the model's last answer. */
function newMail({ entries, messages }: Memory): AgentMessage[] {
  const last = entries.findLastIndex(({ kind }) => kind === 'assistant');
  return entries
    .slice(last + 1)
    .flatMap(idsOf)
    .flatMap((id) => messages.get(id) ?? []);
}

function idsOf(entry: JournalEntry): string[] {
  return 'ids' in entry ? entry.ids : [];
}

function originOf(messages: readonly AgentMessage[]): string | undefined {
  return messages.find(({ traceparent }) => traceparent !== undefined)?.traceparent;
}
