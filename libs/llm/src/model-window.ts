type Prices = typeof import('@pydantic/genai-prices');
const known = new Map<string, number | undefined>();

/** Tokens that a model takes in one request, by the data that comes with the price table; undefined for an unknown one. */
export function modelWindow(model: string): number | undefined {
  if (!known.has(model)) {
    const { calcPrice } = require('@pydantic/genai-prices') as Prices;
    known.set(model, calcPrice({}, model)?.model.context_window);
  }
  return known.get(model);
}
