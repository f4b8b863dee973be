import type { Item } from './item';
import type { Bindings } from './match-rule';
import type { Rule } from './rule';
import { resultOf, type Situation } from './situation';

const PLACEHOLDER =
  /\{\{\s*([\p{L}\w.-]+?)(?:\.(content|context|msgId|inReplyTo|from|to|name|status|outcome|short))?\s*\}\}/gu;
const ALWAYS = ['agent', 'request', 'roster', 'results', 'findings'];
const SHORT = 160;

/**
 * Fills the placeholders of a text: `{{agent}}`, `{{roster}}`, `{{results}}` (what became of each given task),
 * `{{findings}}` (what the tools of this round said), `{{request}}` and every binding, with an optional field
 * (`{{request.msgId}}`; `.short` is one line). A binding that the situation does not have is empty.
 */
export function fillTemplate(template: string, situation: Situation, bindings: Bindings): string {
  return template.replace(PLACEHOLDER, (_, name: string, field: string | undefined) => {
    if (name === 'agent') return situation.agent;
    if (name === 'roster') return situation.roster.join(', ');
    if (name === 'results') return joinResults(situation);
    if (name === 'findings') return joinFindings(situation);
    const item = name === 'request' ? situation.request : bindings.get(name);
    return item ? readField(item, field ?? 'content') : '';
  });
}

/** What is wrong with the placeholders of a rule: a name that nothing can fill. Undefined when all is well. */
export function checkTemplates(rule: Rule): string | undefined {
  const { has, fresh, ever, request, question, engine } = rule.when;
  const groups = [...(request?.source ?? '').matchAll(/\(\?<([A-Za-z]\w*)>/g)].map(([, group]) => `match.${group}`);
  const known = new Set([...ALWAYS, ...groups, ...[...has, ...fresh, ...ever].flatMap(({ as }) => as ?? [])]);
  if (question) known.add('question');
  if (engine) known.add('engine');
  const eachName = { roster: 'member', questions: 'question' } as const;
  const inSay = unknownName(rule.say ?? '', known);
  if (inSay) return `nothing fills {{${inSay}}}`;
  for (const call of rule.call) {
    const names = call.each ? new Set([...known, eachName[call.each]]) : known;
    const unknown = unknownName(Object.values(call.with).join('\n'), names);
    if (unknown) return `nothing fills {{${unknown}}} in the call of ${call.tool}`;
  }
  return undefined;
}

function unknownName(template: string, known: ReadonlySet<string>): string | undefined {
  return [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name).find((name) => !known.has(name));
}

function readField(item: Item, field: string): string {
  if (field !== 'short') return String(item[field as keyof Item]);
  const line = [...item.content.replace(/\s+/g, ' ').trim()];
  return line.length > SHORT ? `${line.slice(0, SHORT - 1).join('')}…` : line.join('');
}

/** One section per agent with its latest task; whatever is not a plain success is named in the heading. */
function joinResults(situation: Situation): string {
  const latest = new Map(situation.given.map((task) => [task.to, task]));
  const sections = [...latest.values()].map((task) => {
    if (task.msgId === '') return `## ${task.to} (not reached)\n\n${task.outcome || 'The message was not sent.'}`;
    const result = resultOf(task, situation.round);
    if (!result) return `## ${task.to} (no result)\n\nNothing has come back from ${task.to}.`;
    const mark = result.status === 'ok' || result.status === '' ? '' : ` (${result.status})`;
    return `## ${task.to}${mark}\n\n${result.content || 'The result has no text.'}`;
  });
  return sections.join('\n\n') || 'No task was given to anybody.';
}

function joinFindings(situation: Situation): string {
  const silent = ['wait_for_messages', 'answer_question', ...situation.callees.values()];
  const used = situation.round.filter((item) => item.kind === 'used' && !silent.includes(item.name));
  return used.map((item) => `${item.name} said:\n${item.content}`).join('\n\n') || 'No tool was used.';
}
