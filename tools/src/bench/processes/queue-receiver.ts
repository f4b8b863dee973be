import { Worker } from 'bullmq';
import { nowMs } from '../clock';

/**
 * The floor of a cold load: a bare BullMQ Worker that only tells when it got a job. Arguments: host and port of Redis,
 * a queue.
 */
const [host = '', port = '', queue = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const worker = new Worker(
    queue,
    async () => {
      process.send?.({ at: nowMs() });
    },
    { connection: { host, port: Number(port) } },
  );
  await worker.waitUntilReady();
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void main();
