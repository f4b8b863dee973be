import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@mailroom/contracts';
import type { Letter, Mailbox, SendReceipt } from '@mailroom/mailbox';
import { contextOf, failSpan, startSend, traceparentOf } from '@mailroom/runtime';
import { SpanKind, type Tracer } from '@opentelemetry/api';

/** An express request, once it was routed. */
type Routed = IncomingMessage & { route?: { path?: unknown } };

/**
 * Begins the span of a request (`POST {route}`, kind SERVER) below the caller's `traceparent`, whose place in the headers
 * it takes; it ends with the answer. Without a tracer nothing happens, and the caller's header goes on with the message.
 */
export function traceRequest(tracer: Tracer | undefined, request: Routed, response: ServerResponse): void {
  if (!tracer) return;
  const { traceparent } = request.headers;
  const parent = contextOf(typeof traceparent === 'string' ? traceparent : undefined);
  const method = request.method ?? '';
  const attributes = { 'http.request.method': method };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  request.headers.traceparent = traceparentOf(span);
  response.once('close', () => {
    const route = request.route?.path;
    if (typeof route === 'string') span.updateName(`${method} ${route}`).setAttribute('http.route', route);
    span.setAttribute('http.response.status_code', response.statusCode);
    if (response.statusCode >= 500) failSpan(span, String(response.statusCode));
    span.end();
  });
}

/** The mailbox, with a span for every message that comes from outside the loop. Without a tracer the mailbox itself. */
export function traceSends(mailbox: Mailbox, tracer: Tracer | undefined): Mailbox {
  if (!tracer) return mailbox;
  const send = async (sessionId: string, letter: Letter): Promise<SendReceipt> => {
    const span = startSend(tracer, { sessionId, to: letter.to, type: letter.type }, contextOf(letter.traceparent));
    try {
      const receipt = await mailbox.send(sessionId, { ...letter, traceparent: traceparentOf(span) });
      span.setAttributes({ 'messaging.message.id': receipt.msgId, 'mailroom.run.id': receipt.runId });
      return receipt;
    } catch (error) {
      failSpan(span, toAppError(error).code);
      throw error;
    } finally {
      span.end();
    }
  };
  return Object.assign(Object.create(mailbox) as Mailbox, { send });
}
