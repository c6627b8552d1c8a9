import type { MediaPrices, TokenPrices, ToolFees } from '../../../../shared/money/money.ts';

/** Prices as JSON, which many calls share: `[input, cachedInput, cacheWrite, output, media?, fees?]`. */
type PricesRow = [
  input: number,
  cachedInput: number,
  cacheWrite: number,
  output: number,
  media?: MediaPrices | null,
  fees?: ToolFees,
];

/** The catalog passes the same object for all calls of a model, until its prices change. */
const texts = new WeakMap<TokenPrices, string>();

export function pricesText(prices: TokenPrices | null): string | null {
  if (prices === null) return null;
  let text = texts.get(prices);
  if (text === undefined) {
    const { input, cachedInput, cacheWrite, output, media, fees } = prices;
    const row: PricesRow = [input, cachedInput, cacheWrite, output];
    if (media || fees) row.push(media ?? null);
    if (fees) row.push(fees);
    text = JSON.stringify(row);
    texts.set(prices, text);
  }
  return text;
}

export function readPrices(text: string | null): TokenPrices | null {
  if (text === null) return null;
  const [input, cachedInput, cacheWrite, output, media, fees] = JSON.parse(text) as PricesRow;
  return { input, cachedInput, cacheWrite, output, ...(media && { media }), ...(fees && { fees }) };
}
