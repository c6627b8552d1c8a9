import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  costBound,
  costOn,
  inputTokens,
  noTokens,
} from '../../../../../src/daemon/features/calls/pricing/cost-bound.ts';
import type { Offer } from '../../../../../src/daemon/features/catalog/index.ts';
import type { ContentPart, Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { nanoFromDecimal } from '../../../../../src/shared/money/exact-price.ts';
import { costOf, type Prices } from '../../../../../src/shared/money/money.ts';
import { inferenceOf } from '../../../../support/inference.ts';
import { offerOf, routeOf } from '../../../../support/routing.ts';

const usd = 1_000_000_000;
const prices: Prices = { input: 2 * usd, cachedInput: usd, cacheWrite: 3 * usd, output: 8 * usd };

function routeAt(
  prices: Prices | null,
  { ownKey = false, ...more }: Partial<Offer> & { ownKey?: boolean } = {},
) {
  const offer = offerOf('any', { prices, contextLength: 1_000_000, outputTokensMax: 1_000, ...more });
  return routeOf(offer, { ownKey });
}

const asking = (content: ContentPart[], more: Partial<Inference> = {}) =>
  inferenceOf({ items: [{ type: 'message', role: 'user', content }], ...more });

describe('the upper bound of the input tokens', () => {
  test('is the number of bytes of its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const { most, likely } = inputTokens(asking([{ type: 'text', text }]));
        expect(most).toBeGreaterThanOrEqual(Buffer.byteLength(text));
        expect(likely).toBeLessThanOrEqual(most);
      }),
    );
  });

  test('assumes the most expensive image, and the estimate an ordinary one', () => {
    const { most, likely } = inputTokens(asking([{ type: 'image', url: 'https://pictures.example/1.png' }]));
    // 4 × 2 tiles of 512 pixels at 5,667 tokens each, and 2,833 for the image.
    expect(most).toBeGreaterThanOrEqual(2_833 + 8 * 5_667);
    expect(likely).toBeLessThan(2_000);
  });

  test('exceeds any context for a file behind a URL', () => {
    const inference = asking([{ type: 'file', url: 'https://files.example/1.pdf' }], { outputTokensMax: 16 });
    const { most, likely } = inputTokens(inference);
    const hold = costBound([routeAt(prices)], inference, { inputTokens: most, marginPpm: 0 });
    expect(hold).toBe(1_000_000 * 3_000 + 16 * 8_000);
    expect(likely).toBeLessThan(10_000);
  });

  test('does not rest on what the list of some server says of its context', () => {
    const inference = asking([{ type: 'text', text: 'x'.repeat(50_000) }], { outputTokensMax: 16 });
    const costIn = (more: Partial<Offer>) =>
      costBound([routeAt(prices, more)], inference, { inputTokens: 50_000, marginPpm: 0 });
    const context = { contextLength: 4096 };
    expect(costIn(context)).toBe(4096 * 3_000 + 16 * 8_000);
    expect(costIn({ ...context, isContextUnsure: true })).toBe(50_000 * 3_000 + 16 * 8_000);
  });
});

test('the cost of the largest call is exact at the highest price that is accepted', () => {
  const highest = nanoFromDecimal('3999.999999999') ?? 0;
  const dearest = { input: highest, cachedInput: highest, cacheWrite: highest, output: highest };
  const route = routeAt(dearest, { contextLength: null, outputTokensMax: null });
  const inference = asking([], { outputTokensMax: Number.MAX_SAFE_INTEGER });
  const bound = { inputTokens: Number.MAX_SAFE_INTEGER, marginPpm: 10_000_000 };
  expect(costBound([route], inference, bound)).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

describe('unparsed members count towards the bound', () => {
  const long = 'x'.repeat(10_000);
  const plain = inputTokens(asking([{ type: 'text', text: 'hello' }])).most;
  const most = (more: Partial<Inference>) =>
    inputTokens(asking([{ type: 'text', text: 'hello' }], more)).most;

  test.each([
    ['a prediction', { prediction: { type: 'content', content: long } }],
    ['vendor-specific documents', { documents: [{ text: long }] }],
    ['vendor-specific text', { suffix: long }],
    ['a name', { messages: [{ role: 'user', content: 'hello', name: long }] }],
    [
      'reasoning in a part',
      { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: long }] }] },
    ],
    [
      'reasoning details of another gateway',
      { messages: [{ role: 'assistant', reasoning_details: [{ data: long }] }] },
    ],
  ])('%s', (_what, body) => {
    expect(most({ wire: 'chat', body })).toBeGreaterThanOrEqual(plain + long.length);
  });

  test.each([
    ['a text', { messages: [{ role: 'user', content: long }] }],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: long } }] }] },
    ],
    ['a schema', { response_format: { json_schema: long } }],
    ['the limits', { max_tokens: 5, temperature: 1, n: 1, store: true }],
  ])('but not twice what is known: %s', (_what, body) => {
    expect(most({ wire: 'chat', body })).toBe(plain);
  });

  test.each([
    ['a search tool', { tools: [{ type: 'opaque', json: { type: 'web_search' } }] }],
    ['a stored prompt', { body: { prompt: { id: 'pmpt_1' } } }],
    ['search options', { wire: 'chat', body: { web_search_options: {} } }],
  ] as [string, Partial<Inference>][])('and has no bound with %s', (_what, more) => {
    expect(most(more)).toBeGreaterThan(1_000_000);
  });

  test('a tool that the caller executes adds only its own text', () => {
    const json = { type: 'custom', name: 'shell', description: 'Runs a command.' };
    expect(most({ tools: [{ type: 'opaque', json }] })).toBeLessThan(plain + 200);
  });
});

describe('the cost bound', () => {
  const price = fc.nat({ max: 100 * usd });
  const media = fc.record(
    { audioInput: price, cachedAudio: price, audioOutput: price, imageOutput: price },
    { requiredKeys: [] },
  );
  const level = fc.record(
    { input: price, cachedInput: price, cacheWrite: price, output: price, media },
    { requiredKeys: ['input', 'cachedInput', 'cacheWrite', 'output'] },
  );
  const tier = fc.tuple(level, fc.integer({ min: 1, max: 3_000 }));
  const tiered = fc.tuple(level, fc.array(tier, { maxLength: 3 })).map(
    ([base, tiers]): Prices => ({
      ...base,
      tiers: tiers.map(([prices, aboveInputTokens]) => ({ ...prices, aboveInputTokens })),
    }),
  );

  test('covers every answer within the token bounds, whatever was cached and in every tier', () => {
    const most = { input: 2_000, output: 1_000 };
    const inference = asking([{ type: 'text', text: 'x' }], { outputTokensMax: most.output });
    const parts = fc.tuple(fc.nat({ max: most.input }), fc.nat({ max: 100 }), fc.nat({ max: 100 }));
    fc.assert(
      fc.property(tiered, parts, fc.nat({ max: most.output }), (prices, [input, read, written], output) => {
        const cachedInput = Math.floor((input * read) / 100);
        const cacheWrite = Math.floor(((input - cachedInput) * written) / 100);
        const cost = costOf(prices, { input, cachedInput, cacheWrite, output, reasoning: 0 }, 50_000).total;
        const bound = { inputTokens: most.input, marginPpm: 50_000 };
        expect(costBound([routeAt(prices)], inference, bound)).toBeGreaterThanOrEqual(cost);
      }),
    );
  });

  test('covers audio and images, and audio input only if there may be some', () => {
    const call = (content: ContentPart[]) => asking(content, { outputTokensMax: 10 });
    const heard = call([{ type: 'audio', data: 'AAAA', format: 'wav' }]);
    const tokensOf = fc.record({ input: fc.nat({ max: 100 }), output: fc.nat({ max: 10 }), audio: fc.nat() });
    fc.assert(
      fc.property(tiered, tokensOf, (prices, { input, output, audio }) => {
        const media = { audioInput: audio, cachedAudio: 0, audioOutput: audio % 7, imageOutput: audio };
        const cost = costOf(prices, { ...noTokens, input, output, media }, 0).total;
        expect(
          costBound([routeAt(prices)], heard, { inputTokens: 100, marginPpm: 0 }),
        ).toBeGreaterThanOrEqual(cost);
      }),
    );
    const dear = routeAt({ ...prices, media: { audioInput: 50 * usd } });
    const bound = { inputTokens: 100, marginPpm: 0 };
    const read = call([{ type: 'text', text: 'x' }]);
    expect(costBound([dear], read, bound)).toBe(costBound([routeAt(prices)], read, bound));
    expect(costBound([dear], heard, bound)).toBeGreaterThan(costBound([dear], read, bound));
  });

  test('covers a prompt that is cached for an hour, where a part of the request asks for it', () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const minutes = { cache_control: { type: 'ephemeral', ttl: '5m' } };
    const holdOf = (body: object, at = prices) => {
      const inference = inferenceOf({ wire: 'messages', body: { model: 'm', ...body }, outputTokensMax: 10 });
      return costBound([routeAt(at)], inference, { inputTokens: 100, marginPpm: 0 });
    };
    const usual = holdOf({});
    expect(holdOf({ system: [{ type: 'text', text: 'x', ...minutes }] })).toBe(usual);
    for (const body of [
      hour,
      { system: [{ type: 'text', text: 'x', ...hour }] },
      { tools: [{ name: 'f' }, { name: 'g', ...hour }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', ...hour }] }] },
      {
        messages: [
          { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', ...hour }] }] },
        ],
      },
    ]) {
      const tokens = { ...noTokens, input: 100, cacheWrite: 100, longCacheWrite: 100, output: 10 };
      expect(holdOf(body)).toBeGreaterThanOrEqual(costOf(prices, tokens, 0).total);
      expect(holdOf(body)).toBeGreaterThan(usual);
    }
    expect(holdOf(hour, { ...prices, cacheWrite: prices.input })).toBe(
      holdOf({}, { ...prices, cacheWrite: prices.input }),
    );
  });

  test('covers as many searches by the provider as the caller allows', () => {
    const fees = { webSearch: 10_000_000, fileSearch: 2_500_000 };
    const bound = { inputTokens: 100, marginPpm: 0 };
    const search = (type: string, body: object = {}) =>
      asking([], {
        wire: 'responses',
        tools: [{ type: 'opaque', json: { type } }],
        body: { ...body },
        outputTokensMax: 16,
      });
    const beyond = (inference: Inference) =>
      costBound([routeAt({ ...prices, fees })], inference, bound) -
      costBound([routeAt(prices)], inference, bound);
    expect(beyond(search('web_search'))).toBe(320_000_000);
    expect(beyond(search('web_search_preview', { max_tool_calls: 2 }))).toBe(20_000_000);
    expect(beyond(search('file_search', { max_tool_calls: 2 }))).toBe(5_000_000);
    expect(beyond(search('web_search', { max_tool_calls: 1e300 }))).toBe(100_000_000_000);
    expect(beyond(search('code_interpreter'))).toBe(0);
  });

  test('is finite however much output is requested', () => {
    for (const outputTokensMax of [1e9, Number.MAX_SAFE_INTEGER, 1e300]) {
      const inference = asking([], { outputTokensMax, wire: 'chat', body: { n: 128 } });
      const route = routeAt(prices, { outputTokensMax: null, contextLength: null });
      const hold = costBound([route], inference, { inputTokens: 1e12, marginPpm: 100_000 });
      expect(Number.isSafeInteger(hold)).toBe(true);
    }
  });

  test('is zero with the workspace’s own key, or without a known price', () => {
    const routes = [routeAt(null), routeAt(prices, { ownKey: true })];
    const inference = asking([{ type: 'text', text: 'hello' }]);
    expect(costBound(routes, inference, { inputTokens: 100, marginPpm: 0 })).toBe(0);
    for (const route of routes) expect(costOn(route, { ...noTokens, input: 100 }, 0)).toBe(0);
  });

  test('exceeds the estimate of the prompt, which is priced as plain input', () => {
    const inference = asking([{ type: 'text', text: 'hello '.repeat(100) }]);
    const { most, likely } = inputTokens(inference);
    const estimate = costOn(routeAt(prices), { ...noTokens, input: likely }, 0);
    expect(estimate).toBe(likely * 2_000);
    expect(costBound([routeAt(prices)], inference, { inputTokens: most, marginPpm: 0 })).toBeGreaterThan(
      estimate,
    );
  });
});
