import type { AgentDefinition, MessageType, Role } from '@mailroom/contracts';
import { LEAD, roleOf, sendableTypes } from '@mailroom/contracts';
import type { Definitions, Membership } from '@mailroom/mailbox';
import { type Callee, calleesOf } from './handoff/callees';

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

/**
 * An agent's own definition and its team. Two layers: the team is the session's, whatever the definition says (R20).
 * Nothing in it is of one session alone, so that agents of like teams can share it.
 */
export interface Seat {
  address: string;
  role: Role;
  membership: Membership;
  /** Undefined: missing or not ACTIVE. */
  definition: AgentDefinition | undefined;
  team: Team;
  /** Colleagues that it may call as tools. */
  callees: readonly Callee[];
  /** True: it was called as a tool itself, works alone, and ends with a report to its caller (seed 001). */
  reports: boolean;
  /** Who gave it its tasks: the lead, or the agent that called it. */
  caller: string;
  /** The platform's limit of layers. */
  depthCap: number;
}

/**
 * Finds the definitions of a session's members; of an agent that was called as a tool and may call others itself, those
 * of its team as well (R20). `depthCap`: layers below the lead that the platform allows.
 */
export async function takeSeat(
  agents: Pick<Definitions, 'find'>,
  address: string,
  { space, leadAgentId, roster, budgeted, instance }: Membership,
  depthCap: number,
): Promise<Seat> {
  const membership = { space, leadAgentId, roster, budgeted, ...(instance && { instance }) };
  const ids = [leadAgentId, ...roster.map((member) => member.agent), ...(instance ? [instance.agent] : [])];
  const [lead, ...found] = await agents.find(space, ids);
  const at = instance ? roster.length : roster.findIndex((member) => member.as === address);
  const own = active(address === LEAD ? lead : found[at]);
  const role = roleOf(address);
  const collaboration = lead?.collaboration ?? 'message';
  const reports = role === 'sub-agent' && (instance !== undefined || collaboration === 'handoff');
  const members = roster.map(({ as, agent }, i) => ({
    as,
    agent,
    description: found[i]?.description ?? '',
    available: active(found[i]) !== undefined,
  }));
  const seat = { address, role, membership, definition: own, reports, caller: instance?.caller ?? LEAD, depthCap };
  if (role === 'lead') {
    const calls = own !== undefined && collaboration !== 'message';
    return {
      ...seat,
      team: { members: collaboration === 'handoff' ? [] : members },
      callees: calls ? calleesOf(own, roster, found, { depth: 0, maxDepth: 0 }) : [],
    };
  }
  const level = instance ?? { depth: 1, maxDepth: lead?.handoff?.maxDepth ?? 1 };
  const leads = own !== undefined && reports && own.subAgents.length > 0 && budgeted && depthCap > level.depth;
  return {
    ...seat,
    team: { members: reports ? [] : members },
    callees: leads ? calleesOf(own, own.subAgents, await agents.find(space, agentsOf(own)), level) : [],
  };
}

function active(definition: AgentDefinition | undefined): AgentDefinition | undefined {
  return definition?.status === 'ACTIVE' ? definition : undefined;
}

function agentsOf({ subAgents }: AgentDefinition): string[] {
  return subAgents.map(({ agent }) => agent);
}

/** The addresses that a seat may write to. */
export function recipientsOf(seat: Seat): string[] {
  const members = seat.team.members.filter((member) => member.available && member.as !== seat.address);
  return [...(seat.role === 'lead' ? [] : [seat.caller]), ...members.map((member) => member.as)];
}

/** The types that a seat may send to an address. A report is never sent: it is the text of the last step. */
export function sendableBy(seat: Seat, to: string): readonly MessageType[] {
  return seat.reports ? ['clarify', 'progress'] : sendableTypes(seat.role, roleOf(to));
}
