import { type Item, timelineItem } from './item';
import { ANY_CALLEE, type Pattern, type Rule, type When } from './rule';
import { isNamed } from './seat';
import type { Situation } from './situation';

/** What a matching rule has found for its templates: the items named by `as`, `question`, `engine`, `match.<group>`. */
export type Bindings = ReadonlyMap<string, Item>;

/** The bindings of a rule that fits the situation; undefined when it does not fit. */
export function matchRule(rule: Rule, situation: Situation): Bindings | undefined {
  const { when } = rule;
  const isOffered = (tool: string) =>
    tool === ANY_CALLEE ? situation.callees.size > 0 : situation.tools.includes(tool);
  if (!rule.call.every((call) => isOffered(call.tool)) || !fitsPlainly(when, situation)) return undefined;
  const bindings = new Map<string, Item>();

  const groups = when.request?.exec(situation.request.content);
  if (when.request && !groups) return undefined;
  for (const [name, content] of Object.entries<string>(groups?.groups ?? {}))
    bindings.set(`match.${name}`, timelineItem({ kind: 'got', at: 0, name: 'match', content }));

  const asked = when.question;
  const question = situation.questions.find(
    (item) => isNamed(item.from, asked?.from) && (asked?.text?.test(item.content) ?? true),
  );
  if (question) bindings.set('question', question);
  else if (asked) return undefined;

  const last = situation.fresh.at(-1);
  const engine = last?.kind === 'engine' && (when.engine?.test(last.content) ?? true) ? last : undefined;
  if (engine) bindings.set('engine', engine);
  else if (when.engine) return undefined;

  const wanted: [Pattern[], Item[]][] = [
    [when.has, situation.round],
    [when.fresh, situation.fresh],
    [when.ever, situation.history],
  ];
  for (const [patterns, items] of wanted)
    for (const pattern of patterns) {
      const found = items.findLast((item) => fitsPattern(pattern, item));
      if (!found) return undefined;
      if (pattern.as) bindings.set(pattern.as, found);
    }
  if (when.lacks.some((pattern) => situation.round.some((item) => fitsPattern(pattern, item)))) return undefined;
  return bindings;
}

function fitsPlainly(when: When, situation: Situation): boolean {
  const { roster, tools, steps } = when;
  return (
    isOneOf(situation.role, when.role) &&
    isNamed(situation.agent, when.agent) &&
    (when.called === undefined || when.called === situation.called) &&
    (roster === undefined || fitsNames(roster, situation.roster)) &&
    (tools === undefined || fitsNames(tools, situation.tools)) &&
    (when.open === undefined || when.open === situation.open) &&
    (when.facts?.test(situation.facts) ?? true) &&
    (when.text?.test(situation.text) ?? true) &&
    situation.steps >= (steps?.min ?? 0) &&
    situation.steps <= (steps?.max ?? Number.POSITIVE_INFINITY)
  );
}

function fitsNames(wanted: 'some' | 'none' | string[], present: readonly string[]): boolean {
  if (Array.isArray(wanted)) return wanted.every((name) => present.includes(name));
  return wanted === 'some' ? present.length > 0 : present.length === 0;
}

function fitsPattern(pattern: Pattern, item: Item): boolean {
  const named = { got: pattern.got, sent: pattern.sent, used: pattern.used, said: pattern.said, engine: undefined };
  const names = named[item.kind];
  return (
    names !== undefined &&
    (names.includes('*') || names.includes(item.name)) &&
    isNamed(item.from, pattern.from) &&
    isNamed(item.to, pattern.to) &&
    isOneOf(item.status, pattern.status) &&
    item.late === pattern.late &&
    (pattern.text?.test(item.content) ?? true)
  );
}

function isOneOf(value: string, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.includes(value);
}
