import { readFileSync } from 'node:fs';
import { AppError } from '@mailroom/contracts';
import type { OwnPrice } from '@mailroom/llm';
import { z } from 'zod';

const price = z.number().min(0).max(1_000_000);

const priceList = z.record(
  z.string().min(1),
  z.strictObject({
    input: price,
    output: price,
    cachedInput: price.optional(),
    contextWindow: z.number().int().min(1).optional(),
  }),
);

/** Reads a file of own prices by model name (JSON). Throws `misconfigured` with the place and the reason. */
export function readPriceFile(path: string): Record<string, OwnPrice> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason =
      error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new AppError('misconfigured', `PRICES_FILE: ${path} ${reason}`);
  }
  const parsed = priceList.safeParse(json);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path: place, message }) => `${place.join('.') || 'the file'}: ${message}`);
  throw new AppError('misconfigured', `PRICES_FILE: ${path}: ${faults.join('; ')}`);
}
