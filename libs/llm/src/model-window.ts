// At start, not at the first step: reading the table takes 70 ms, in which no lease is renewed.
import { calcPrice } from '@pydantic/genai-prices';

const known = new Map<string, number | undefined>();

/** Tokens that a model takes in one request, by the data that comes with the price table; undefined for an unknown one. */
export function modelWindow(model: string): number | undefined {
  if (!known.has(model)) known.set(model, calcPrice({}, model)?.model.context_window);
  return known.get(model);
}
