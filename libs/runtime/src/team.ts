import type { AgentDefinition, Role } from '@mailroom/contracts';
import { LEAD, roleOf } from '@mailroom/contracts';
import type { AgentDirectory, Claim } from '@mailroom/mailbox';

/** One member as its colleagues know it. */
interface TeamMember {
  as: string;
  agent: string;
  description: string;
  /** False: its definition is missing or not ACTIVE, so it cannot be written to (R1). */
  available: boolean;
}

/** Who is in a session, seen from one seat. */
export interface Team {
  members: readonly TeamMember[];
}

/** An agent's own definition and its team. Two layers: the team is the session's, whatever the definition says (R20). */
export interface Seat {
  address: string;
  role: Role;
  claim: Claim;
  /** Undefined: missing or not ACTIVE. */
  definition: AgentDefinition | undefined;
  team: Team;
}

/** Reads the definitions of a session's members; one round trip. */
export async function takeSeat(agents: Pick<AgentDirectory, 'find'>, claim: Claim): Promise<Seat> {
  const address = claim.lease.agent;
  const ids = [claim.leadAgentId, ...claim.roster.map((member) => member.agent)];
  const [lead, ...found] = await agents.find(claim.space, ids);
  const members = claim.roster.map(({ as, agent }, i) => ({
    as,
    agent,
    description: found[i]?.description ?? '',
    available: found[i]?.status === 'ACTIVE',
  }));
  const own = address === LEAD ? lead : found[claim.roster.findIndex((member) => member.as === address)];
  return {
    address,
    role: roleOf(address),
    claim,
    definition: own?.status === 'ACTIVE' ? own : undefined,
    team: { members },
  };
}

/** The addresses that a seat may write to. */
export function recipientsOf(seat: Seat): string[] {
  const members = seat.team.members.filter((member) => member.available && member.as !== seat.address);
  return [...(seat.role === 'lead' ? [] : [LEAD]), ...members.map((member) => member.as)];
}
