import { type AgentDefinition, type HandoffPolicy, LEAD, type RosterMember, toolOf } from '@mailroom/contracts';
import { deepest, policyOf } from './handoff-policy';

/** A colleague that an agent may call as a tool, and on which terms. */
export interface Callee {
  as: string;
  /** Id of its definition. */
  agent: string;
  tool: string;
  description: string;
  mode: 'new' | 'reuse';
  policy: HandoffPolicy;
  /** The layer that a call reaches: 1 below the lead. */
  depth: number;
  /** The deepest layer that the policies from the lead down to here allow; 0: they set no limit. */
  maxDepth: number;
}

/** Where a caller stands: layers below the lead, and the limit that came down to it. */
export interface Level {
  depth: number;
  maxDepth: number;
}

/** The members of a team as tools of the agent that leads it. Those without an active definition are left out (R1). */
export function calleesOf(
  leader: AgentDefinition,
  members: readonly RosterMember[],
  definitions: readonly (AgentDefinition | undefined)[],
  level: Level,
): Callee[] {
  return members.flatMap((member, i) => {
    const definition = definitions[i];
    if (definition?.status !== 'ACTIVE') return [];
    const policy = policyOf(leader.handoff, member.handoff);
    return {
      as: member.as,
      agent: member.agent,
      tool: toolOf(member),
      description: definition.description.trim() || `Delegate a specialised task to sub-agent ${member.as}`,
      mode: member.sessionMode ?? 'new',
      policy,
      depth: level.depth + 1,
      maxDepth: policy.enabled ? deepest(level.maxDepth, policy.maxDepth) : level.maxDepth,
    };
  });
}

/**
 * The address that a call reaches: `bob#2` for the second call of bob by the lead, `bob#2/eve#1` for one of that
 * instance's own; without a number when the agent is reused. No name of a person's making has a `#` or a `/`.
 */
export function addressOf(callee: Callee, caller: string, number: number): string {
  const name = callee.mode === 'new' ? `${callee.as}#${number}` : callee.as;
  return caller === LEAD ? name : `${caller}/${name}`;
}
