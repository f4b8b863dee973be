import OpenAI from 'openai';
import { nowMs } from '../clock';
import { isReport, TEAM } from '../team-model';

/**
 * The floor of a team's work: the same model calls with the bare client in one process, the specialists as function
 * calls; no mailbox, nothing kept. Argument: the base URL of the model. Told `{sessions, lanes}` it works that many off,
 * so many at a time, and says the latencies.
 */
const [baseURL = ''] = process.argv.slice(2);
const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type Call = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall;

interface Agent {
  model: string;
  tools: readonly string[];
  execute(call: Call): Promise<string>;
}

const specialist: Agent = { model: 'team-specialist', tools: ['lookup'], execute: async () => '42' };
const lead: Agent = { model: 'team-lead', tools: TEAM, execute: () => answerOf(specialist, 'Collect your part') };

async function answerOf(agent: Agent, task: string): Promise<string> {
  const messages: Message[] = [
    { role: 'system', content: 'You are part of a team.' },
    { role: 'user', content: task },
  ];
  for (;;) {
    const { content, calls } = await callModel(agent, messages);
    if (calls.length === 0) return content;
    messages.push({ role: 'assistant', content: content || null, tool_calls: calls });
    const results = await Promise.all(calls.map((call) => agent.execute(call)));
    calls.forEach((call, i) => {
      messages.push({ role: 'tool', tool_call_id: call.id, content: results[i] ?? '' });
    });
  }
}

async function callModel({ model, tools }: Agent, messages: Message[]): Promise<{ content: string; calls: Call[] }> {
  const parameters = { type: 'object', properties: { input: { type: 'string' } } };
  const stream = await client.chat.completions.create({
    model,
    messages,
    tools: tools.map((name) => ({ type: 'function', function: { name, description: name, parameters } })),
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  const calls: Call[] = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    content += delta?.content ?? '';
    for (const { index, id = '', function: part } of delta?.tool_calls ?? []) {
      calls[index] ??= { id, type: 'function', function: { name: part?.name ?? '', arguments: '' } };
      calls[index].function.arguments += part?.arguments ?? '';
    }
  }
  return { content, calls };
}

async function work(sessions: number, lanes: number): Promise<number[]> {
  const latencies: number[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun++ < sessions) {
      const startedAt = nowMs();
      const text = await answerOf(lead, 'Make the report');
      if (!isReport(text)) throw new Error(`this is not the report: ${text}`);
      latencies.push(nowMs() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return latencies;
}

process.on('message', ({ sessions, lanes }: { sessions: number; lanes: number }) => {
  void work(sessions, lanes).then((latencies) => process.send?.({ latencies }));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
