import { parseArgs } from 'node:util';
import { startBenchStand } from './bench/bench-stand';
import { coldLoad } from './bench/cold-load';
import { messageHop } from './bench/message-hop';
import { printJson, printTable } from './bench/print-rows';
import { redisCommands } from './bench/redis-commands';
import type { Measurement, Row } from './bench/row';
import { teamWork } from './bench/team-work';

/** A new row: a file in `bench/` that exports a `Measurement`, and a line here. */
const MEASUREMENTS: Record<string, Measurement> = {
  'message-hop': messageHop,
  'cold-load': coldLoad,
  'team-work': teamWork,
  'redis-commands': redisCommands,
};

const HELP = `npm run bench [-- --json] [-- --only name,name]

Starts Redis (AOF), a gateway, a worker and a model without latency, measures, and stops everything again.
  --json  one JSON object per row on standard output (with \`npm run -s\`), nothing else
  --only  some of: ${Object.keys(MEASUREMENTS).join(', ')}`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, only: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) return console.log(HELP);
  const wanted = (values.only?.split(',') ?? Object.keys(MEASUREMENTS)).map((name) => {
    const measure = MEASUREMENTS[name];
    if (!measure) throw new Error(`there is no measurement "${name}": ${Object.keys(MEASUREMENTS).join(', ')}`);
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
