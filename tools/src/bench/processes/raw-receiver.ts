import { Redis } from 'ioredis';

/**
 * The floor of a message hop: what a process cannot do without to be woken by Redis and take its mail, and nothing
 * else. Arguments: the URL of Redis, a channel, a list.
 */
const [url = '', channel = '', list = ''] = process.argv.slice(2);

const DRAIN = `local mail = redis.call('LRANGE', KEYS[1], 0, -1)
redis.call('DEL', KEYS[1])
return mail`;

async function main(): Promise<void> {
  const commands = new Redis(url);
  const subscriber = new Redis(url);
  const digest = String(await commands.script('LOAD', DRAIN));
  subscriber.on('message', () => void commands.evalsha(digest, 1, list));
  await subscriber.subscribe(channel);
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

void main();
