import { type HandoffOverride, type HandoffPolicy, handoffPolicy } from '@mailroom/contracts';

const DEFAULTS = handoffPolicy.parse({});

/** What holds for one sub-agent: its own fields, then its team's, then the defaults (seed 003 §5). */
export function policyOf(team: HandoffPolicy | undefined, override: HandoffOverride | undefined): HandoffPolicy {
  const own = Object.fromEntries(Object.entries(override ?? {}).filter(([, value]) => value !== undefined));
  return { ...DEFAULTS, ...team, ...own };
}

/** Of two limits of depth the lower; 0 or less is none. */
export function deepest(a: number, b: number): number {
  if (a <= 0) return Math.max(b, 0);
  return b <= 0 ? a : Math.min(a, b);
}

/**
 * Why a call is denied: the first rule that it breaks, in the order allowed, denied, depth. Undefined when it may be made.
 * `depth` is the layer that it would reach; the platform's cap holds also where the policy is not enabled or sets no limit.
 */
export function denialOf(
  policy: HandoffPolicy,
  tool: string,
  depth: number,
  limits: { maxDepth: number; cap: number },
): string | undefined {
  const beyondCap = depth > limits.cap && `depth ${depth} is more than MAX_COLLABORATION_DEPTH ${limits.cap}`;
  if (!policy.enabled) return beyondCap || undefined;
  const { allowedTools, deniedTools } = policy;
  if (allowedTools.length > 0 && !allowedTools.includes(tool)) return `allowedTools does not name "${tool}"`;
  if (deniedTools.includes(tool)) return `deniedTools names "${tool}"`;
  if (limits.maxDepth > 0 && depth > limits.maxDepth) return `depth ${depth} is more than maxDepth ${limits.maxDepth}`;
  return beyondCap || undefined;
}
