import type { TokenUsage } from '@mailroom/contracts';
import { calcPrice, findProvider, type PriceOptions } from '@pydantic/genai-prices';

/** Prices of one model: US dollars for a million tokens. Without `cachedInput` cached tokens cost as others. */
export interface OwnPrice {
  input: number;
  output: number;
  cachedInput?: number | undefined;
  /** Tokens that the model reads at most. */
  contextWindow?: number | undefined;
}

interface PublicModel {
  options: PriceOptions;
  /** Tokens that it reads at most. */
  window: number | undefined;
}

const MILLION = 1_000_000;

/**
 * What model calls cost, in US dollars, and how much a model reads. A deployment's own prices go before the public ones
 * (`@pydantic/genai-prices`, as of its version; nothing is fetched). Of those the provider behind `baseUrl` is asked
 * first, if it is a known one, and then whichever provider knows the name. What nobody knows is undefined, never 0.
 */
export class PriceTable {
  private readonly own: ReadonlyMap<string, OwnPrice>;
  private readonly endpoint: PriceOptions | undefined;
  /** What the public prices know of a name; null: nothing. */
  private readonly publicly = new Map<string, PublicModel | null>();

  /** `own`: a deployment's prices by model name. */
  constructor(own: Readonly<Record<string, OwnPrice>> = {}, baseUrl = '') {
    this.own = new Map(Object.entries(own));
    const provider = baseUrl === '' ? undefined : findProvider({ providerApiUrl: baseUrl });
    this.endpoint = provider && { provider };
  }

  /**
   * The cost of one call, rounded to a millionth of a dollar. `models` are names of the same model, as the server told it
   * and as it was asked for: an own price of any goes before a public one of any.
   */
  costOf({ input, output, cached = 0 }: TokenUsage, ...models: readonly string[]): number | undefined {
    const fromCache = Math.min(cached, input);
    const price = models.map((model) => this.own.get(model)).find((known) => known !== undefined);
    if (price) {
      const read = (input - fromCache) * price.input + fromCache * (price.cachedInput ?? price.input);
      return toMillionth((read + output * price.output) / MILLION);
    }
    const usage = { input_tokens: input, output_tokens: output, cache_read_tokens: fromCache };
    for (const model of models) {
      const known = this.lookUp(model);
      const found = known && calcPrice(usage, model, known.options);
      if (found) return toMillionth(found.total_price);
    }
    return undefined;
  }

  /** Tokens that a model reads at most; undefined when nobody knows. */
  contextWindow(model: string): number | undefined {
    return this.own.get(model)?.contextWindow ?? this.lookUp(model)?.window;
  }

  private lookUp(model: string): PublicModel | null {
    const known = this.publicly.get(model);
    if (known !== undefined) return known;
    const priced = (options: PriceOptions | undefined) => options && calcPrice({ input_tokens: 1 }, model, options);
    const found = model === '' ? null : priced(this.endpoint) || priced({});
    const answer = found ? { options: { provider: found.provider }, window: found.model.context_window } : null;
    this.publicly.set(model, answer);
    return answer;
  }
}

function toMillionth(dollars: number): number {
  return Math.round(dollars * MILLION) / MILLION;
}
