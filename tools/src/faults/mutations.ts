import { rmSync } from 'node:fs';
import type { Phase } from './phase';
import { kills } from './phases/kills';
import { network } from './phases/network';
import { rollback } from './phases/rollback';
import { slowExit } from './phases/slow-exit';
import { applyPatch, copyPlatform, type Patch } from './platform-copy';
import { runPhases } from './run-phases';

/** A product with one error in it, and the phase that has to notice. */
interface Mutation {
  name: string;
  patches: Patch[];
  phase: Phase;
}

const SCRIPTS = 'libs/mailbox/dist/scripts.generated.js';

/** The errors that systems of this kind have had; each was found in some product. */
const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the same message id is delivered twice',
    phase: network,
    patches: [
      { file: SCRIPTS, from: 'if known then', to: 'if false then' },
      { file: SCRIPTS, from: "if not m.isNew and isKnown(m.id) then return 'ok' end", to: '' },
    ],
  },
  {
    name: 'a drain empties the mailbox without writing the journal',
    phase: slowExit,
    patches: [
      {
        file: SCRIPTS,
        from: "if #ids == 0 then return end\\n  remember(name, cjson.encode({ kind = 'mail', ids = ids }))",
        to: 'if #ids == 0 then return end',
      },
    ],
  },
  {
    name: 'an agent exits without a look at its mailbox',
    phase: slowExit,
    patches: [{ file: SCRIPTS, from: "if hasWork(name) then return cjson.encode({ code = 'work' }) end", to: '' }],
  },
  {
    name: 'the id of a job has no epoch',
    phase: slowExit,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a built file
    patches: [{ file: 'libs/contracts/dist/activation-job.js', from: '.${job.epoch}`', to: '`' }],
  },
  {
    name: 'the fence compares epochs and no tokens',
    phase: rollback,
    patches: [{ file: SCRIPTS, from: ' or fields.token ~= token', to: '' }],
  },
  {
    name: 'messages are sent after the commit of their step',
    phase: kills,
    patches: [
      {
        file: SCRIPTS,
        from: 'local code, detail = deliver({ id = send.id, from = name, to = send.to, type = send.type, inReplyTo = send.inReplyTo,\\n    body = body() })',
        to: "local code, detail = 'ok', body() and nil",
      },
      {
        file: 'libs/mailbox/dist/redis-mailbox.js',
        from: 'const { work, left, settled = false, held } = reply;',
        to: `for (const letter of part.sends) {
            await new Promise((resolve) => setTimeout(resolve, 150));
            await this.send(fence.sessionId, { ...letter, from: fence.agent });
        }
        const { work, left, settled = false, held } = reply;`,
      },
    ],
  },
  {
    name: 'a reader that comes back begins at the end of the stream',
    phase: slowExit,
    patches: [
      {
        file: 'libs/mailbox/dist/event-feed.js',
        from: 'let cursor = after;',
        to: "let cursor = after && (await this.redis.xrevrange(this.keys.of('events', sessionId), '+', '-', 'COUNT', 1))[0]?.[0];",
      },
    ],
  },
];

/** Breaks a copy of the product in each way and plays one phase with it. True when each was noticed. */
export async function runMutations(seed: number, say: (line: string) => void): Promise<boolean> {
  let caught = 0;
  for (const { name, patches, phase } of MUTATIONS) {
    const platform = copyPlatform();
    for (const patch of patches) applyPatch(platform, patch);
    const verdicts = await runPhases({ seed, phases: [phase], platform, keep: false, say: () => undefined });
    rmSync(platform, { recursive: true, force: true });
    const witnesses = verdicts.filter(({ found }) => found.length > 0);
    if (witnesses.length > 0) caught++;
    say(`${witnesses.length > 0 ? 'caught' : 'MISSED'}  ${name} (${phase.name})`);
    for (const { check, found } of witnesses) say(`        ${check} ${found.length} times, for example ${found[0]}`);
  }
  say(`${caught} of ${MUTATIONS.length} caught`);
  return caught === MUTATIONS.length;
}
