import { randomBytes } from 'node:crypto';

/** Mail as the runtime shows it to a model. */
export interface TestMail {
  from: string;
  type: string;
  content: string;
  msgId?: string;
  inReplyTo?: string;
  context?: string;
  status?: string;
  late?: boolean;
}

export interface TestCall {
  id: string;
  function: { name: string; arguments: string };
}

export interface TestAnswer {
  content: string;
  calls: { name: string; args: Record<string, string> }[];
}

type TestMessage = Record<string, unknown> & { role: string; content?: string | null };

export function newMsgId(): string {
  return `msg_${randomBytes(6).toString('hex')}`;
}

/** An inbox block in the runtime's form. */
export function inboxBlock(mail: readonly TestMail[]): string {
  const blocks = mail.map(({ content, context, ...attributes }) => {
    const named = { msgId: newMsgId(), ...attributes };
    const shown = Object.entries(named).map(([key, value]) => `${key}="${value}"`);
    return `<message ${shown.join(' ')}>\n${content}\n${context ? `<context>\n${context}\n</context>\n` : ''}</message>`;
  });
  return `<inbox>\n${blocks.join('\n')}\n</inbox>`;
}

/** The tools that an agent is offered: sends to `to`, waits, and uses `extra`. */
export function toolsFor(to: readonly string[], extra: readonly string[] = []): object[] {
  const send = { type: 'object', properties: { to: { type: 'string', enum: to }, type: { type: 'string' } } };
  const names = [...(to.length > 0 ? ['send_message'] : []), 'wait_for_messages', ...extra];
  return names.map((name) => ({
    type: 'function',
    function: { name, parameters: name === 'send_message' ? send : { type: 'object' } },
  }));
}

/** One agent's conversation with a scripted model over HTTP, with requests as Mailroom's runtime makes them. */
export class ChatAgent {
  readonly messages: TestMessage[] = [];

  constructor(
    private readonly baseUrl: string,
    readonly name: string,
    private readonly tools: object[],
    engine = '',
  ) {
    const content = `You are ${name}.\nYour address in this session: ${name}\n${engine}`;
    this.messages.push({ role: 'system', content });
  }

  hear(...mail: TestMail[]): void {
    this.messages.push({ role: 'user', content: inboxBlock(mail) });
  }

  engine(sentence: string): void {
    this.messages.push({ role: 'user', content: `<engine>${sentence}</engine>` });
  }

  /** The result of a tool call of the last answer. */
  tool(callId: string, content: string): void {
    this.messages.push({ role: 'tool', tool_call_id: callId, content });
  }

  /** One step. Its tool calls are in the history and wait for their results. */
  async ask(options: { facts?: string; tools?: object[] } = {}): Promise<TestAnswer & { raw: TestCall[] }> {
    const messages = [...this.messages];
    if (options.facts !== undefined) messages.push({ role: 'user', content: `<facts>${options.facts}</facts>` });
    const response = await fetch(`${this.baseUrl}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', messages, tools: options.tools ?? this.tools }),
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const body = (await response.json()) as {
      choices: [{ message: { content: string | null; tool_calls?: TestCall[] } }];
    };
    const { message } = body.choices[0];
    this.messages.push({ role: 'assistant', ...message });
    const raw = message.tool_calls ?? [];
    return { content: message.content ?? '', raw, calls: raw.map((call) => readCall(call)) };
  }

  /** One step whose tool calls are all answered: sends are accepted, other tools say `<tool> result`. */
  async step(options: { facts?: string; tools?: object[] } = {}): Promise<TestAnswer & { sentIds: string[] }> {
    const answer = await this.ask(options);
    const sentIds: string[] = [];
    for (const call of answer.raw) {
      const { name, args } = readCall(call);
      const id = newMsgId();
      if (name === 'send_message') sentIds.push(id);
      this.tool(call.id, name === 'send_message' ? `queued for ${args.to} as ${id}` : `${name} result`);
    }
    return { content: answer.content, calls: answer.calls, sentIds };
  }
}

function readCall(call: TestCall): { name: string; args: Record<string, string> } {
  return { name: call.function.name, args: JSON.parse(call.function.arguments) as Record<string, string> };
}
