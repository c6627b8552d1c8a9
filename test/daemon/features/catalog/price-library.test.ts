import type { ModelInfo, Provider } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadPriceLibrary, priceLibrary } from '../../../../src/daemon/features/catalog/price-library.ts';
import { nanoFromDecimal, pricesFromDecimals } from '../../../../src/shared/money/exact-price.ts';
import { costOf, formatUsd, pricesFor } from '../../../../src/shared/money/money.ts';

const now = Date.UTC(2026, 10, 21, 8);

function libraryOf(...models: Partial<ModelInfo>[]) {
  const complete = models.map((model) => ({
    id: 'm',
    match: { equals: model.id ?? 'm' },
    prices: {},
    ...model,
  }));
  const provider: Provider = { id: 'maker', name: 'Maker', api_pattern: 'x', models: complete };
  return priceLibrary(({ providerId }) => (providerId === 'maker' ? provider : undefined));
}

describe('a decimal becomes nano-dollars without float drift', () => {
  test.each([
    [0.075, 75_000_000],
    ['0.075', 75_000_000],
    [0.003625, 3_625_000],
    [1.1, 1_100_000_000],
    ['10', 10_000_000_000],
    ['7.5e-2', 75_000_000],
    [1e-7, 100],
    ['0.0000000001', 1],
    [0, 0],
  ])('%s → %d', (written, nano) => {
    expect(nanoFromDecimal(written)).toBe(nano);
  });

  test.each([
    '',
    '-1',
    'free',
    '0x10',
    '1e400',
    '1,5',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '4000',
    1e5,
    1e14,
  ])('%s is no price', (written) => {
    expect(nanoFromDecimal(written)).toBeUndefined();
  });

  test('every price with nine places survives a round trip', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (nano) => {
        expect(nanoFromDecimal(formatUsd(nano))).toBe(nano);
      }),
    );
  });

  test('cached input and cache writes default to the price of input', () => {
    expect(pricesFromDecimals({ input: '2', output: '8', cachedInput: '0.5' })).toEqual({
      input: 2_000_000_000,
      cachedInput: 500_000_000,
      cacheWrite: 2_000_000_000,
      output: 8_000_000_000,
    });
    expect(pricesFromDecimals({ input: '2', output: 'x' })).toBeUndefined();
  });
});

describe('the price library', () => {
  test('has real list prices and context lengths', async () => {
    const library = await loadPriceLibrary();
    const model = library.find('openai', 'gpt-4o-mini', now);
    expect(model?.prices).toMatchObject({
      input: 150_000_000,
      cachedInput: 75_000_000,
      output: 600_000_000,
    });
    expect(model?.contextLength).toBe(128_000);
    expect(library.names('anthropic')).toContain('claude-sonnet-4-5');
    // A prefix of a name is not a model.
    expect(library.names('openai').filter((name) => name.endsWith('-'))).toEqual([]);
    expect(library.sourceOf('https://api.groq.com/openai/v1')).toBe('groq');
    expect(library.sourceOf('http://127.0.0.1:11434/v1')).toBeUndefined();
    expect(library.find('nobody', 'gpt-4o-mini', now)).toBeUndefined();
  });

  test('audio, images and searches have their own prices', async () => {
    const library = await loadPriceLibrary();
    const flash = library.find('google', 'gemini-2.5-flash', now)?.prices;
    expect(flash).toMatchObject({
      input: 300_000_000,
      media: { audioInput: 1_000_000_000, cachedAudio: 100_000_000 },
    });
    expect(library.find('google', 'gemini-2.5-flash-image', now)?.prices).toMatchObject({
      output: 2_500_000_000,
      media: { imageOutput: 30_000_000_000 },
    });
    const audio = library.find('openai', 'gpt-audio', now)?.prices?.media;
    expect(audio).toMatchObject({ audioInput: 32_000_000_000, cachedAudio: 32_000_000_000 });
    expect(library.find('openai', 'gpt-4o-mini', now)?.prices).not.toHaveProperty('media');
    expect(library.find('openai', 'gpt-5', now)?.prices?.fees).toEqual({
      webSearch: 10_000_000,
      fileSearch: 2_500_000,
    });
    const wrong = libraryOf({ prices: { input_mtok: 1, output_mtok: 1, output_audio_mtok: Number.NaN } });
    expect(wrong.find('maker', 'm', now)?.prices).toBeNull();
  });

  test('exactly the tokens at which a provider says that more cost more are not more', async () => {
    const library = await loadPriceLibrary();
    const prices = library.find('openai', 'gpt-5.5', now)?.prices;
    if (!prices?.tiers) throw new Error('no tiers');
    const at = (input: number) => pricesFor(prices, input).input;
    expect(at(272_000)).toBe(at(1));
    expect(at(272_001)).toBe(2 * at(1));
  });

  test('a longer input moves the whole call to a higher tier, part by part', () => {
    const library = libraryOf({
      id: 'm',
      prices: {
        input_mtok: {
          base: 1,
          tiers: [
            { start: 100, price: 2 },
            { start: 200, price: 3 },
          ],
        },
        cache_read_mtok: 0.1,
        output_mtok: { base: 10, tiers: [{ start: 200, price: 15 }] },
      },
    });
    const prices = library.find('maker', 'm', now)?.prices;
    if (!prices) throw new Error('no prices');
    const at = (input: number) => {
      const { input: inputPrice, cachedInput, cacheWrite, output } = pricesFor(prices, input);
      return [inputPrice, cachedInput, cacheWrite, output].map(formatUsd);
    };
    expect(at(100)).toEqual(['1', '0.1', '1', '10']);
    expect(at(101)).toEqual(['2', '0.1', '2', '10']);
    expect(at(201)).toEqual(['3', '0.1', '3', '15']);
    const tokens = { input: 300, cachedInput: 0, cacheWrite: 0, output: 100, reasoning: 0 };
    expect(costOf(prices, tokens, 0).total).toBe(300 * 3_000 + 100 * 15_000);
  });

  test('a price applies from its date, within its hours, including over midnight', () => {
    const library = libraryOf({
      id: 'm',
      prices: [
        { prices: { input_mtok: 1, output_mtok: 1 } },
        {
          constraint: { type: 'start_date', start_date: '2026-11-21' },
          prices: { input_mtok: 2, output_mtok: 2 },
        },
        {
          constraint: { type: 'time_of_date', start_time: '22:00:00Z', end_time: '02:00:00Z' },
          prices: { input_mtok: 3, output_mtok: 3 },
        },
      ],
    });
    const at = (day: number, hour: number, minute = 0) =>
      library.find('maker', 'm', Date.UTC(2026, 10, day, hour, minute))?.prices?.input;
    expect(at(20, 12)).toBe(1_000_000_000);
    expect(at(21, 12)).toBe(2_000_000_000);
    expect(at(21, 22)).toBe(3_000_000_000);
    expect(at(21, 1, 59)).toBe(3_000_000_000);
    expect(at(21, 2)).toBe(2_000_000_000);
  });

  test.each([
    ['there is none', {}],
    ['only the input has a price', { input_mtok: 1 }],
    [
      'every request costs something beside its tokens',
      { input_mtok: 1, output_mtok: 1, requests_kcount: 5 },
    ],
  ])('a price is unknown when %s', (_, prices) => {
    expect(libraryOf({ id: 'm', prices }).find('maker', 'm', now)?.prices).toBeNull();
  });

  test('a free variant without prices costs nothing, and zero stays zero', () => {
    const library = libraryOf({ id: 'a/b:free' }, { id: 'zero', prices: { input_mtok: 0, output_mtok: 0 } });
    expect(library.find('maker', 'a/b:free', now)?.prices?.output).toBe(0);
    expect(library.find('maker', 'zero', now)?.prices?.input).toBe(0);
  });

  test('a later version does not get the price of an earlier one, a dated name does', async () => {
    const library = await loadPriceLibrary();
    const priceOf = (name: string) => library.find('anthropic', name, now)?.prices?.input;
    expect(priceOf('claude-sonnet-4-5-20250929')).toBe(3_000_000_000);
    expect(priceOf('claude-opus-4-20250514')).toBe(15_000_000_000);
    expect(priceOf('claude-sonnet-5-77')).toBeUndefined();
  });
});
