import { createHash } from 'node:crypto';
import { foldName } from './address';

/** What a provider takes as the name of a tool. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const PREFIX = 'subagent_';
const HASH_LENGTH = 8;

/** A slug that could be the head and the digest of another name. */
const LIKE_DIGEST = new RegExp(`(?:^|_)[0-9a-f]{${HASH_LENGTH}}$`);

/**
 * The tool that stands for a sub-agent: `subagent_` and a slug of its name. Legal for every provider, the same after a
 * restart and in whatever order definitions are read. A name that a slug cannot say whole (other scripts, blanks, case,
 * length), or that looks like such a tool, ends with a digest of the whole name, so that two names never meet in one tool.
 */
export function handoffToolName(name: string): string {
  const folded = foldName(name);
  const slug = folded
    .normalize('NFKD')
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (slug === folded && PREFIX.length + slug.length <= 64 && !LIKE_DIGEST.test(slug)) return PREFIX + slug;
  const digest = createHash('sha256').update(folded).digest('hex').slice(0, HASH_LENGTH);
  const room = 64 - PREFIX.length - HASH_LENGTH - 1;
  const head = slug.slice(0, room).replace(/_+$/, '');
  return head === '' ? `${PREFIX}${digest}` : `${PREFIX}${head}_${digest}`;
}
