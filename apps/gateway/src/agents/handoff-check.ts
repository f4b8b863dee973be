import {
  type AgentDefinition,
  type HandoffOverride,
  type HandoffPolicy,
  type InputFilterStep,
  type RosterMember,
  toolOf,
  wayOut,
} from '@mailroom/contracts';

/** What of a deployment decides whether a team can be called as tools. */
export interface HandoffGround {
  /** Why a filter cannot be run so; undefined when it can. */
  filters: { faultOf(step: InputFilterStep): string | undefined };
  reservedToolNames: readonly string[];
}

/** Something about a definition; `path` leads to the field. */
export interface Finding {
  path: (string | number)[];
  message: string;
}

/** What a definition asks for that its deployment cannot do: a tool name that is taken, an input filter that cannot be run. */
export function handoffFaults(definition: AgentDefinition, ground: HandoffGround): Finding[] {
  const team = filterFaults(['handoff'], definition.handoff, ground);
  const members = definition.subAgents.flatMap((member, index) => {
    const path = ['subAgents', index];
    const reason = takenBecause(member, definition, ground.reservedToolNames);
    const field = member.toolName === undefined ? path : [...path, 'toolName'];
    return [
      ...(reason === undefined ? [] : [{ path: field, message: reason }]),
      ...filterFaults([...path, 'handoff'], member.handoff, ground),
    ];
  });
  return [...team, ...members];
}

/** Names in `allowedTools` and `deniedTools` that are no tool of the team: they decide nothing, and may be misspelt. */
export function handoffDoubts({ handoff, subAgents }: AgentDefinition): Finding[] {
  const tools = subAgents.map(toolOf);
  const doubts = (path: (string | number)[], policy: HandoffOverride | undefined) =>
    (['allowedTools', 'deniedTools'] as const).flatMap((field) =>
      (policy?.[field] ?? [])
        .filter((name) => !tools.includes(name))
        .map((name) => ({
          path: [...path, field],
          message: `"${field}" names "${name}", which is no handoff tool of this team; ${wayOut(name, tools)}`,
        })),
    );
  return [
    ...doubts(['handoff'], handoff),
    ...subAgents.flatMap((member, index) => doubts(['subAgents', index, 'handoff'], member.handoff)),
  ];
}

/** The lead's own tool may have the name where the policy falls back to it: then it is the primary. */
function takenBecause(
  member: RosterMember,
  { tools, handoff }: AgentDefinition,
  reserved: readonly string[],
): string | undefined {
  const tool = toolOf(member);
  if (reserved.includes(tool)) return `the runtime has a tool "${tool}"; set another "toolName"`;
  if (!tools.includes(tool) || fallsBack({ ...handoff, ...member.handoff })) return undefined;
  return (
    `"${tool}" is one of the agent's own tools; set another "toolName", or make it the one to fall back to with ` +
    '"onError" or "onDenied": fallback_to_primary'
  );
}

function fallsBack({ enabled, onDenied, onError }: HandoffOverride): boolean {
  return enabled !== false && [onDenied, onError].includes('fallback_to_primary');
}

function filterFaults(
  path: (string | number)[],
  policy: HandoffPolicy | HandoffOverride | undefined,
  { filters }: HandoffGround,
): Finding[] {
  return (policy?.inputFilter ?? []).flatMap((step) => {
    const message = filters.faultOf(step);
    return message === undefined ? [] : { path: [...path, 'inputFilter'], message };
  });
}
