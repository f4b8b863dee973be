import { parseArgs } from 'node:util';
import { faultSettings } from './environment';
import { runMutations } from './faults/mutations';
import { blockedLoop } from './faults/phases/blocked-loop';
import { clockSkew } from './faults/phases/clock-skew';
import { crashPoints } from './faults/phases/crash-points';
import { deploy } from './faults/phases/deploy';
import { hostileInput } from './faults/phases/hostile-input';
import { kills } from './faults/phases/kills';
import { network } from './faults/phases/network';
import { rollback } from './faults/phases/rollback';
import { slowExit } from './faults/phases/slow-exit';
import { store } from './faults/phases/store';
import { zombies } from './faults/phases/zombies';
import { runPhases } from './faults/run-phases';

const PHASES = [
  crashPoints,
  kills,
  zombies,
  blockedLoop,
  slowExit,
  network,
  store,
  rollback,
  deploy,
  clockSkew,
  hostileInput,
];

const HELP = `npm run test:faults [-- --mutations]

Breaks a platform of real processes in every way that is listed, and checks what was promised.
  SEED=<number>        repeats the random decisions of a run
  PHASES=<name,name>   some of: ${PHASES.map(({ name }) => name).join(', ')}
  --keep               keeps the histories also when all is well
  --mutations          breaks the product itself in seven ways, and shows that each is noticed`;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { mutations: { type: 'boolean' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(HELP);
    return true;
  }
  const { seed = Math.floor(Math.random() * 1e9), phases } = faultSettings();
  if (values.mutations) {
    console.log(`SEED=${seed}`);
    return runMutations(seed, (line) => console.log(line));
  }
  const wanted = phases?.map((name) => {
    const phase = PHASES.find((each) => each.name === name);
    if (!phase) throw new Error(`there is no phase "${name}": ${PHASES.map((each) => each.name).join(', ')}`);
    return phase;
  });
  console.log(`SEED=${seed}${phases ? ` PHASES=${phases.join(',')}` : ''}`);
  const verdicts = await runPhases({
    seed,
    phases: wanted ?? PHASES,
    ...(values.keep && { keep: true }),
    say: (line) => console.log(line),
  });
  const failed = verdicts.filter(({ found }) => found.length > 0).length;
  console.log(`${verdicts.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

main().then(
  (isGreen) => process.exit(isGreen ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : error);
    process.exit(1);
  },
);
