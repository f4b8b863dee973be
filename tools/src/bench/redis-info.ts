import type { Redis } from 'ioredis';

/** Bytes on the wire so far, in and out, of all clients. */
export async function netBytes(redis: Redis): Promise<number> {
  const info = await redis.info('stats');
  return field(info, 'total_net_input_bytes') + field(info, 'total_net_output_bytes');
}

/** Milliseconds of processor time that Redis has used so far. */
export async function redisCpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  return (field(info, 'used_cpu_user') + field(info, 'used_cpu_sys')) * 1_000;
}

/** Microseconds that Redis has spent in scripts so far. */
export async function scriptMicros(redis: Redis): Promise<number> {
  const info = await redis.info('commandstats');
  return Number(/^cmdstat_evalsha:.*?usec=(\d+)/m.exec(info)?.[1] ?? 0);
}

function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
}
