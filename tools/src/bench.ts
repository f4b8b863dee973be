import { parseArgs } from 'node:util';
import { type BenchStand, startBenchStand } from './bench/bench-stand';
import { coldLoad } from './bench/cold-load';
import { growthLoop } from './bench/growth-loop';
import { growthEvents, growthJournal } from './bench/growth-store';
import { growthWorkers } from './bench/growth-workers';
import { idleCost } from './bench/idle-cost';
import { messageCost } from './bench/message-cost';
import { messageHop } from './bench/message-hop';
import { messageRate } from './bench/message-rate';
import { comparePeers } from './bench/peers';
import { printJson, printTable } from './bench/print-rows';
import { redisCommands } from './bench/redis-commands';
import type { Measurement, Row } from './bench/row';
import { teamWork } from './bench/team-work';

/**
 * A new row: a file in `bench/` that exports a `Measurement`, and a line here. What is counted comes first: the heartbeats of
 * agents that the others leave behind would be counted too.
 */
const MEASUREMENTS: Record<string, Measurement> = {
  'message-cost': messageCost,
  'redis-commands': redisCommands,
  'message-hop': messageHop,
  'cold-load': coldLoad,
  'team-work': teamWork,
  'message-rate': messageRate,
  'growth-journal': growthJournal,
  'growth-events': growthEvents,
  'growth-loop': growthLoop,
  'growth-workers': growthWorkers,
  'idle-cost': idleCost,
};

const HELP = `npm run bench [-- --json] [--only name,name] [--peers folder]

Starts Redis (AOF), a gateway, a worker and a model without latency, measures, and stops everything again.
  --json  one JSON object per row on standard output (with \`npm run -s\`), nothing else
  --only  some of: ${Object.keys(MEASUREMENTS).join(', ')}, peers
  --peers a folder with the same team on other frameworks, which is measured beside it`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      only: { type: 'string' },
      peers: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(HELP);
  const { peers } = values;
  const known: Record<string, Measurement> = {
    ...MEASUREMENTS,
    ...(peers && { peers: (stand: BenchStand) => comparePeers(stand, peers) }),
  };
  const wanted = (values.only?.split(',') ?? Object.keys(known)).map((name) => {
    const measure = known[name];
    if (!measure) throw new Error(`there is no measurement "${name}": ${Object.keys(known).join(', ')}`);
    return { name, measure };
  });
  const rows: Row[] = [];
  const stand = await startBenchStand();
  try {
    for (const { name, measure } of wanted) {
      console.error(`measuring ${name} …`);
      const measured = await measure(stand);
      rows.push(...measured);
      if (values.json) printJson(measured);
    }
    console.error(`${stand.model.served} model calls were served`);
  } finally {
    await stand.stop();
  }
  if (!values.json) printTable(rows);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`The bench failed: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  },
);
