import { z } from 'zod';
import { agentName, foldName } from './address';
import { handoffOverride, handoffPolicy } from './handoff-policy';
import { handoffToolName, TOOL_NAME } from './handoff-tool';
import { LIMITS } from './limits';

/** How a sub-agent is called as a tool; all of it optional. */
const handoffTerms = {
  /** Name of the tool; `subagent_` and a slug of the member's name when absent. */
  toolName: z.string().regex(TOOL_NAME, 'a tool name has 1 to 64 of a-z, A-Z, 0-9, "_" and "-"').optional(),
  /** `new`: each call gets an instance with a memory of its own; `reuse`: one for the session (seed 003 §4). */
  sessionMode: z.enum(['new', 'reuse']).optional(),
  handoff: handoffOverride.optional(),
};

/** A member of a team: an agent id, or an object; `as` uses one definition under an instance name of its own. */
export const rosterMember = z.union([
  agentName.transform((agent): RosterMember => ({ as: agent, agent })),
  z
    .strictObject({ as: agentName.optional(), agent: agentName, ...handoffTerms })
    .transform((member): RosterMember => ({ ...member, as: member.as ?? member.agent })),
]);

/** A member as the session keeps it. */
export interface RosterMember extends z.output<z.ZodObject<typeof handoffTerms>> {
  as: string;
  agent: string;
}

/** The tool that calls a member. */
export function toolOf(member: RosterMember): string {
  return member.toolName ?? handoffToolName(member.as);
}

const roster = z
  .array(rosterMember)
  .max(LIMITS.rosterSize, `a lead has at most ${LIMITS.rosterSize} sub-agents`)
  .superRefine((members, context) => {
    const [seen, tools] = [new Set<string>(), new Set<string>()];
    for (const member of members) {
      if (seen.has(foldName(member.as)))
        context.addIssue({
          code: 'custom',
          message: `"${member.as}" is in the team twice; give one of them another "as"`,
        });
      seen.add(foldName(member.as));
      if (tools.has(toolOf(member)))
        context.addIssue({
          code: 'custom',
          message: `two members have the tool "${toolOf(member)}"; set another "toolName"`,
        });
      tools.add(toolOf(member));
    }
  });

/** An agent as people write it: a Markdown file in `agents/` or an object over REST. */
export const agentDefinition = z.strictObject({
  id: agentName,
  name: z.string().trim().min(1).max(128).optional(),
  description: z.string().trim().max(4_096).default(''),
  systemPrompt: z.string().max(131_072).default(''),
  /** Model name sent to the provider; the deployment's default when absent. */
  model: z.string().trim().min(1).max(256).optional(),
  /** Names of tools from the capability registry. Absent or empty: none. */
  tools: z.array(z.string().trim().min(1).max(64)).max(64).default([]),
  /** The team. A definition with one can lead; loaded as a sub-agent it works alone (R20). */
  subAgents: roster.default([]),
  /** How a lead works with its team: by message, by calling members as tools, or both. */
  collaboration: z.enum(['message', 'handoff', 'both']).default('message'),
  /** Rules for members that are called as tools. */
  handoff: handoffPolicy.optional(),
  /** Tokens that the model takes in one request; what is known of the model when absent (R22). */
  contextWindow: z.number().int().min(1_000).max(100_000_000).optional(),
  maxSteps: z.number().int().min(1).max(1_000).optional(),
  /** Tool calls of one step; those beyond it are answered with an error. */
  maxCallsPerStep: z.number().int().min(1).max(1_000).optional(),
  /** `each`: the lead wakes on every result; `all`: when all open tasks have ended (R14). */
  wakeOn: z.enum(['each', 'all']).default('each'),
  modelSilenceMs: z.number().int().min(100).max(3_600_000).optional(),
  modelCallMs: z.number().int().min(100).max(3_600_000).optional(),
  status: z.enum(['ACTIVE', 'INACTIVE']).default('ACTIVE'),
});
export type AgentDefinition = z.output<typeof agentDefinition>;
