import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { type Rule, rule, rulesFile } from './rule';
import { RulesError } from './rules-error';
import { checkTemplates } from './template';

/** The rules that ship with the server: the Q2 report story and any other team. */
export const SHIPPED_RULES = resolve(__dirname, '..', 'rules', 'default.yaml');

/**
 * Reads a YAML rules file and those it includes, in order.
 * Throws `RulesError` that names the file, the rule and the fault.
 */
export function loadRules(file: string, above: readonly string[] = []): Rule[] {
  const path = resolve(file);
  if (above.includes(path))
    throw new RulesError(`${path}: includes itself (${[...above, path].map((p) => basename(p)).join(' > ')})`);
  const content = rulesFile.safeParse(readYaml(path) ?? {});
  if (!content.success) throw new RulesError(`${path}: ${faults(content.error)}`);
  const included = content.data.include.flatMap((next) => loadRules(resolve(dirname(path), next), [...above, path]));
  return [...parseRules(content.data.rules, path), ...included];
}

/** Checks rules that are given as data. `source` stands in the errors. Throws `RulesError`. */
export function parseRules(rules: readonly unknown[], source: string): Rule[] {
  return rules.map((value, index) => {
    const name = (value as { name?: unknown } | null)?.name;
    const place = `${source}: rule ${index + 1}${typeof name === 'string' ? ` "${name}"` : ''}`;
    const parsed = rule.safeParse(value);
    if (!parsed.success) throw new RulesError(`${place}: ${faults(parsed.error)}`);
    const fault = checkTemplates(parsed.data);
    if (fault) throw new RulesError(`${place}: ${fault}`);
    return parsed.data;
  });
}

function readYaml(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new RulesError(`${path}: ${(error as Error).message}`);
  }
}

function faults(error: z.ZodError): string {
  return error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': ')).join('; ');
}
