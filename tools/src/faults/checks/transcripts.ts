import type { HandoffEntry, JournalEntry, SentEntry, ToolEntry } from '@mailroom/contracts';
import type { Evidence, PromptMessage } from '../evidence';
import type { AgentRecord } from '../session-record';
import type { Check } from './check';

export const LEGAL_HISTORIES: Check = {
  id: 'I9',
  fact: 'every history that a model was sent is legal: each tool call is followed by its result, nothing is empty',
  find: ({ prompts }) => [...new Set(prompts.flatMap(({ messages }) => illegal(messages)))],
};

function illegal(prompt: readonly PromptMessage[]): string[] {
  const found: string[] = [];
  let open: string[] = [];
  prompt.forEach(({ role, content, tool_calls: calls = [], tool_call_id: answered }, at) => {
    if (role === 'tool') {
      if (open[0] !== answered) found.push(`message ${at} answers ${answered}, expected was ${open[0] ?? 'nothing'}`);
      open = open.slice(1);
      return;
    }
    if (open.length > 0) found.push(`message ${at} comes before the result of ${open[0]}`);
    open = calls.map(({ id }) => id);
    if (!content && calls.length === 0) found.push(`message ${at} of ${role} is empty`);
    if (role === 'user' && prompt[at - 1]?.role === 'user') found.push(`message ${at} is a second user message`);
  });
  if (open.length > 0) found.push(`the history ends before the result of ${open[0]}`);
  return found;
}

export const PREFIX_OF_JOURNAL: Check = {
  id: 'I10',
  fact: 'what a model was sent is a prefix of the journal, apart from system prompt and facts',
  find(evidence) {
    // What was sent before Redis lost its latest writes may be in no journal any more.
    const since = evidence.clients.find(({ op }) => op === 'rolled-back')?.t ?? 0;
    const journals = new Map<string, { agent: AgentRecord; session: string; story: string[] }>();
    for (const session of evidence.sessions)
      for (const agent of session.agents) {
        const first = agent.journal.find((entry) => entry.kind === 'mail');
        if (first?.kind === 'mail' && first.ids[0])
          journals.set(first.ids[0], { agent, session: session.id, story: storyOfJournal(agent) });
      }
    return evidence.prompts.flatMap(({ t, messages }) => (t < since ? [] : strays(messages, journals, evidence)));
  },
};

function strays(
  prompt: readonly PromptMessage[],
  journals: Map<string, { agent: AgentRecord; session: string; story: string[] }>,
  { opened }: Evidence,
): string[] {
  const told = storyOfPrompt(prompt);
  const known = journals.get(told[0]?.replace('mail ', '') ?? '');
  if (!known || !opened.includes(known.session)) return [];
  const at = told.findIndex((part, i) => part !== known.story[i]);
  if (at < 0) return [];
  return [
    `${known.session}: ${known.agent.name} was sent "${told[at]}" at ${at}, the journal has "${known.story[at] ?? 'no more'}"`,
  ];
}

/** Both stories have the same words: mail by id, engine sentences, answers by their calls, results by call and length. */
function storyOfJournal({ journal }: AgentRecord): string[] {
  const story: string[] = [];
  journal.forEach((entry, index) => {
    if (entry.kind === 'mail') story.push(...entry.ids.map((id) => `mail ${id}`));
    if (entry.kind === 'engine') story.push('engine');
    if (entry.kind !== 'assistant') return;
    if (entry.content.trim() === '' && entry.toolCalls.length === 0) return;
    story.push(`answer ${entry.toolCalls.map(({ id }) => id).join(' ')}`);
    const next = journal.findIndex((later, i) => i > index && later.kind === 'assistant');
    const results = journal.slice(index + 1, next < 0 ? undefined : next);
    for (const { id } of entry.toolCalls) {
      const result = results.find((later) => isResult(later) && later.callId === id);
      story.push(`result ${id} ${result?.kind === 'tool' ? kindOf(result.content) : (result?.kind ?? '')}`);
    }
  });
  return story;
}

/** Whether an entry is the result of a call; a call whose colleague failed may be still open for the own tool. */
export function isResult(entry: JournalEntry): entry is ToolEntry | SentEntry | HandoffEntry {
  if (entry.kind === 'handoff') return entry.outcome !== 'fallback';
  return entry.kind === 'tool' || entry.kind === 'sent';
}

/** Results that are written from a record have no words of their own. */
function kindOf(content: string): string {
  if (/^(queued for|Not sent)/.test(content)) return 'sent';
  return /^\{"(subagent|errorType)":|cannot go on without an answer/.test(content) ? 'handoff' : content;
}

const BLOCK = /<message [^>]*msgId="([^"]+)"|<engine>/g;

function storyOfPrompt(prompt: readonly PromptMessage[]): string[] {
  return prompt.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
    if (role === 'user') return [...content.matchAll(BLOCK)].map(([, mail]) => (mail ? `mail ${mail}` : 'engine'));
    if (role === 'assistant') return [`answer ${calls.map((call) => call.id).join(' ')}`];
    if (role === 'tool') return [`result ${id} ${kindOf(content)}`];
    return [];
  });
}
