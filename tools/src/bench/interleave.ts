import { rest } from './clock';

/** Takes one sample, in ms. `index` counts from 0, warm-up included. */
export type Sample = (index: number) => Promise<number>;

/** Samples of each side that are taken and thrown away first: connections, scripts, compiled code. */
const WARM_UP = 200;

/** Samples of each side that count. */
const COUNTED = 600;

/** How often a side is called in all. */
export const SAMPLES = WARM_UP + COUNTED;

/**
 * Takes samples of two sides in turn, A B A B …, so that a machine that gets slower does so for both. Before each
 * everything comes to rest, so that both are woken from sleep.
 */
export async function interleave(product: Sample, floor: Sample): Promise<{ product: number[]; floor: number[] }> {
  const samples = { product: [] as number[], floor: [] as number[] };
  for (let index = 0; index < SAMPLES; index++) {
    await rest();
    samples.floor.push(await floor(index));
    await rest();
    samples.product.push(await product(index));
  }
  return { product: samples.product.slice(WARM_UP), floor: samples.floor.slice(WARM_UP) };
}
