import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { spanContextOf } from './traceparent';

/** A message as its span names it; never what it says. */
export interface SentMessage {
  sessionId: string;
  to: string;
  type: string;
  msgId?: string;
}

/** Begins the span of a message that goes into a mailbox: `send {address}`, kind PRODUCER. */
export function startSend(tracer: Tracer, message: SentMessage, parent: Context): Span {
  const { sessionId, to, type, msgId } = message;
  const attributes = {
    'messaging.system': 'mailroom',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'send',
    'messaging.destination.name': to,
    'messaging.message.conversation_id': sessionId,
    ...(msgId !== undefined && { 'messaging.message.id': msgId }),
    'mailroom.message.type': type,
  };
  return tracer.startSpan(`send ${to}`, { kind: SpanKind.PRODUCER, attributes }, parent);
}

/** The context of the span that a `traceparent` names; without one, the beginning of a trace. */
export function contextOf(traceparent: string | undefined): Context {
  const parent = spanContextOf(traceparent);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

/** Marks a span as failed by a code. Error texts can quote what an agent said, so no span carries them. */
export function failSpan(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
