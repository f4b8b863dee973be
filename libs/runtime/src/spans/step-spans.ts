import type { ToolOutcome } from '@mailroom/capabilities';
import { type ToolCall, toAppError } from '@mailroom/contracts';
import type { ModelAnswer } from '@mailroom/llm';
import type { CommitReceipt, StepPart } from '@mailroom/mailbox';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { failSpan, startSend } from './send-span';
import { traceparentOf } from './traceparent';

/** The step that spans are made for. */
export interface TracedStep {
  sessionId: string;
  runId: string;
  step: number;
  /** Of the agent's stretch of work. */
  agent: Span;
  /** Of the mail that the step begins with, if any came. */
  mail: Span | undefined;
  /** Who gave the agent its tasks. */
  caller: string;
  /** Whether the agent works on a task, so that a text without tool calls goes to its caller. */
  hasTask: boolean;
}

/** The spans of one step: its model call, its tool calls, and the messages that go out with its commit. */
export class StepSpans {
  /** Everything of the step hangs under its mail, else under the agent. */
  private readonly context: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly traced: TracedStep,
  ) {
    this.context = trace.setSpan(ROOT_CONTEXT, traced.mail ?? traced.agent);
  }

  /** Resolves and rejects as the call does. */
  async chat(model: string, call: Promise<ModelAnswer>): Promise<ModelAnswer> {
    const span = this.start(`chat ${model}`, SpanKind.CLIENT, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model,
    });
    return finished(span, call, (answer) => {
      span.setAttributes({
        'gen_ai.response.model': answer.model,
        'gen_ai.usage.input_tokens': answer.usage.input,
        'gen_ai.usage.output_tokens': answer.usage.output,
      });
    });
  }

  /** Resolves and rejects as the execution does. */
  async tool(call: ToolCall, execution: Promise<ToolOutcome>): Promise<ToolOutcome> {
    const span = this.start(`execute_tool ${call.name}`, SpanKind.INTERNAL, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.name,
      'gen_ai.tool.call.id': call.id,
      'gen_ai.tool.type': 'function',
    });
    return finished(span, execution, (outcome) => {
      if (outcome.error) failSpan(span, 'tool_failed');
    });
  }

  /** Commits the part with messages that tell where they were sent from. */
  async commit(part: StepPart, write: (part: StepPart) => Promise<CommitReceipt>): Promise<CommitReceipt> {
    const { sessionId, agent, mail, caller, hasTask } = this.traced;
    const spans: Span[] = [];
    const begin = (to: string, type: string, msgId?: string): string => {
      const span = startSend(this.tracer, { sessionId, to, type, ...(msgId && { msgId }) }, this.context);
      spans.push(span);
      return traceparentOf(span);
    };
    const sends = part.sends.map((send) => ({ ...send, traceparent: begin(send.to, send.type, send.msgId) }));
    const handoffs = part.handoffs?.map((call) => ({ ...call, traceparent: begin(call.to, 'task') }));
    const answers = part.answers?.map((reply) => ({
      ...reply,
      traceparent: begin(reply.question, 'clarify_resp', reply.msgId),
    }));
    // Whether a text without a task answers a peer or nobody is decided in the script.
    const origin = part.final && (hasTask ? begin(caller, 'result') : traceparentOf(mail ?? agent));
    const final = part.final && origin !== undefined && { ...part.final, traceparent: origin };
    try {
      return await write({
        ...part,
        sends,
        ...(handoffs && { handoffs }),
        ...(answers && { answers }),
        ...(final && { final }),
      });
    } catch (error) {
      for (const span of spans) failSpan(span, toAppError(error).code);
      throw error;
    } finally {
      for (const span of spans) span.end();
    }
  }

  end(): void {
    this.traced.mail?.end();
  }

  private start(name: string, kind: SpanKind, attributes: Attributes): Span {
    const { sessionId, runId, step } = this.traced;
    const common = { 'gen_ai.conversation.id': sessionId, 'mailroom.run.id': runId, 'mailroom.step': step };
    return this.tracer.startSpan(name, { kind, attributes: { ...attributes, ...common } }, this.context);
  }
}

async function finished<T>(span: Span, work: Promise<T>, told: (result: T) => void): Promise<T> {
  try {
    const result = await work;
    told(result);
    return result;
  } catch (error) {
    failSpan(span, toAppError(error).code);
    throw error;
  } finally {
    span.end();
  }
}
