import { randomUUID } from 'node:crypto';
import { timelineItem } from './item';
import { type Bindings, matchRule } from './match-rule';
import { ANY_CALLEE, type Call, type Hold, isAnswering, type Rule } from './rule';
import { withNotice } from './scripted-notice';
import type { Situation } from './situation';
import { fillTemplate } from './template';

interface AnswerCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
}

/** What the rules make of a request. */
export interface ScriptedAnswer {
  /** The name of the rule that answers. */
  rule: string;
  content: string;
  calls: AnswerCall[];
  /** Milliseconds before the first byte. */
  delayMs: number;
  holds: Hold[];
  /** Set: the request is refused with this status. */
  refusal?: { status: number; retryAfter?: number };
}

/** Chooses rules for situations; remembers which `once` rules have been used. */
export class ScriptedAnswers {
  private readonly spent = new Set<Rule>();

  constructor(private readonly rules: readonly Rule[]) {}

  /** The answer of the first answering rule that fits, slowed by those before it; undefined when none fits. */
  answer(situation: Situation): ScriptedAnswer | undefined {
    const slowing: Rule[] = [];
    for (const rule of this.rules) {
      const bindings = this.spent.has(rule) ? undefined : matchRule(rule, situation);
      if (!bindings) continue;
      if (rule.once) this.spent.add(rule);
      slowing.push(rule);
      if (isAnswering(rule)) return compose(rule, situation, bindings, slowing);
    }
    return undefined;
  }
}

function compose(rule: Rule, situation: Situation, bindings: Bindings, slowing: readonly Rule[]): ScriptedAnswer {
  const calls = rule.call.flatMap((call) => composeCalls(call, situation, bindings));
  const text = fillTemplate(rule.say ?? '', situation, bindings).trim();
  return {
    rule: rule.name,
    content: calls.length === 0 ? withNotice(text) : text,
    calls,
    delayMs: slowing.reduce((sum, { delayMs }) => sum + delayMs, 0),
    holds: slowing.flatMap(({ hold }) => hold ?? []),
    ...(rule.status !== undefined && {
      refusal: { status: rule.status, ...(rule.retryAfter !== undefined && { retryAfter: rule.retryAfter }) },
    }),
  };
}

function composeCalls(call: Call, situation: Situation, bindings: Bindings): AnswerCall[] {
  if (call.each === 'roster')
    return situation.roster.map((name) =>
      composeCall(
        call.tool === ANY_CALLEE ? { ...call, tool: situation.callees.get(name) ?? call.tool } : call,
        situation,
        new Map([...bindings, ['member', timelineItem({ kind: 'got', at: 0, name, content: name })]]),
      ),
    );
  if (call.each === 'questions')
    return situation.questions.map((question) =>
      composeCall(call, situation, new Map([...bindings, ['question', question]])),
    );
  return [composeCall(call, situation, bindings)];
}

/** Arguments that come out empty are left out: an optional `context` or `inReplyTo` that the situation lacks. */
function composeCall(call: Call, situation: Situation, bindings: Bindings): AnswerCall {
  const filled = Object.entries(call.with)
    .map(
      ([key, value]) =>
        [key, typeof value === 'string' ? fillTemplate(value, situation, bindings).trim() : value] as const,
    )
    .filter(([, value]) => value !== '');
  return {
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
    name: call.tool,
    arguments: JSON.stringify(Object.fromEntries(filled)),
  };
}
