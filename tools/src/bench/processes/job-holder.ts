import { queueOptions, workerOptions, workerSizes } from '@mailroom/hosting';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * The floor of an idle agent: a bare process whose BullMQ Workers hold jobs and do nothing. Arguments: the URL of Redis, a
 * prefix, a queue, how many it can hold. It says how many it holds, ten times a second.
 */
const [url = '', prefix = '', queue = '', capacity = ''] = process.argv.slice(2);
const { prefix: keys = '' } = queueOptions(prefix);
const connection = new Redis(url, { maxRetriesPerRequest: null });

// A promise that nobody can settle any more is garbage, and so are the job and the Worker's wait for it.
const held: (() => void)[] = [];
const hold = () => new Promise<void>((resolve) => held.push(resolve));
for (const size of workerSizes(Number(capacity)))
  new Worker(queue, hold, { ...workerOptions(prefix, size), prefix: keys, connection });
let told = -1;
setInterval(() => {
  if (held.length !== told) console.log(`holds ${held.length}`);
  told = held.length;
}, 100);
