import { z } from 'zod';
import { agentName, foldName } from './address';
import { LIMITS } from './limits';

/** A member of a team: an agent id, or one definition under an instance name of its own. */
export const rosterMember = z.union([
  agentName.transform((agent) => ({ as: agent, agent })),
  z.strictObject({ as: agentName, agent: agentName }),
]);
export type RosterMember = z.output<typeof rosterMember>;

const roster = z
  .array(rosterMember)
  .max(LIMITS.rosterSize, `a lead has at most ${LIMITS.rosterSize} sub-agents`)
  .superRefine((members, context) => {
    const seen = new Set<string>();
    for (const member of members) {
      if (seen.has(foldName(member.as)))
        context.addIssue({
          code: 'custom',
          message: `"${member.as}" is in the team twice; give one of them another "as"`,
        });
      seen.add(foldName(member.as));
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
  maxSteps: z.number().int().min(1).max(1_000).optional(),
  /** `each`: the lead wakes on every result; `all`: when all open tasks have ended (R14). */
  wakeOn: z.enum(['each', 'all']).default('each'),
  modelSilenceMs: z.number().int().min(100).max(3_600_000).optional(),
  modelCallMs: z.number().int().min(100).max(3_600_000).optional(),
  status: z.enum(['ACTIVE', 'INACTIVE']).default('ACTIVE'),
});
export type AgentDefinition = z.output<typeof agentDefinition>;
