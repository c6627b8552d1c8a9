import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  msatFor,
  type RateSettings,
  Rates,
  valueAt,
  worthOf,
} from '../../../../src/daemon/features/payment-required/rates.ts';
import type { IncomingAnswer } from '../../../../src/daemon/world.ts';

const settings = (more: Partial<RateSettings> = {}): RateSettings => ({
  perBitcoin: undefined,
  url: undefined,
  pointer: '',
  maxAgeMs: 60_000,
  ...more,
});

/** A source of rates that answers with these texts, one after the other. */
function source(...answers: (string | Error)[]) {
  const clock = { at: 1_000_000 };
  const asked: string[] = [];
  const warnings: string[] = [];
  const send = async ({ url }: { url: string }): Promise<IncomingAnswer> => {
    asked.push(url);
    const answer = answers.shift() ?? new Error('nothing more');
    if (answer instanceof Error) throw answer;
    const bytes = async () => Buffer.from(answer);
    return { status: 200, headers: {}, body: { bytes } as unknown as IncomingAnswer['body'] };
  };
  const deps = {
    world: { now: () => clock.at, send },
    log: { warn: (_details: object, message: string) => void warnings.push(message) },
  };
  return { deps, clock, asked, warnings };
}

const url = 'https://rates.example/btc.json';
const dollars = (amount: number) => amount * 1_000_000_000;

describe('the exchange rate', () => {
  test('is the configured one, before any other', async () => {
    const { deps, asked } = source();
    const fixed = new Rates({
      ...deps,
      settings: settings({ perBitcoin: dollars(65_000), url }),
      isPlayMoney: () => true,
    });
    expect(await fixed.current()).toEqual({ perBitcoin: dollars(65_000), source: 'config', at: 1_000_000 });
    expect(asked).toEqual([]);
  });

  test('of play money needs no configuration, that of real money does', async () => {
    const { deps } = source();
    const play = new Rates({ ...deps, settings: settings(), isPlayMoney: () => true });
    expect(await play.current()).toMatchObject({ perBitcoin: dollars(100_000), source: 'default' });
    const real = new Rates({ ...deps, settings: settings(), isPlayMoney: () => false });
    expect(await real.current()).toBeUndefined();
  });

  test('is fetched once while it is recent', async () => {
    const { deps, clock, asked } = source('{"bitcoin":{"usd":64123.456}}', '{"bitcoin":{"usd":"70000"}}');
    const rates = new Rates({
      ...deps,
      settings: settings({ url, pointer: '/bitcoin/usd' }),
      isPlayMoney: () => false,
    });
    const first = { perBitcoin: dollars(64_123.46), source: 'rates.example', at: 1_000_000 };
    expect(await Promise.all([rates.current(), rates.current()])).toEqual([first, first]);
    clock.at += 59_999;
    expect(await rates.current()).toEqual(first);
    expect(asked).toEqual([url]);
    clock.at += 1;
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(70_000), at: clock.at });
  });

  test.each([
    '',
    'nonsense',
    '{}',
    '{"usd":0}',
    '{"usd":-1}',
    '{"usd":1e300}',
    '{"usd":"1,000"}',
    '{"usd":null}',
  ])('is none when the source answers %j, and it is not asked again at once', async (text) => {
    const { deps, clock, asked, warnings } = source(text, '{"usd":5}');
    const rates = new Rates({
      ...deps,
      settings: settings({ url, pointer: '/usd' }),
      isPlayMoney: () => false,
    });
    expect(await rates.current()).toBeUndefined();
    expect(await rates.current()).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(warnings).toHaveLength(1);
    clock.at += 10_000;
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(5) });
  });

  test('is none once the last one is too old and the source fails', async () => {
    const { deps, clock } = source('5', new Error('down'));
    const rates = new Rates({ ...deps, settings: settings({ url }), isPlayMoney: () => false });
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(5) });
    clock.at += 60_000;
    expect(await rates.current()).toBeUndefined();
  });

  test.each([
    ['/a/0', { a: [1] }, 1],
    ['/a~1b/~0c', { 'a/b': { '~c': 2 } }, 2],
    ['/a/b', { a: null }, undefined],
    ['/toString', {}, undefined],
    ['', 3, 3],
  ])('is found at the pointer %j', (pointer, json, value) => {
    expect(valueAt(json, pointer)).toBe(value);
  });
});

test('past failure 11: rounding never costs the host, and at most one satoshi more than is due', () => {
  const rate = fc.integer({ min: 1, max: 9_000_000 }).map((usd) => ({ perBitcoin: dollars(usd) }));
  fc.assert(
    fc.property(rate, fc.integer({ min: -5, max: dollars(1_000) }), (at, due) => {
      const msat = msatFor(due, at);
      expect(msat % 1000).toBe(0);
      expect(msat).toBeGreaterThanOrEqual(1000);
      expect(worthOf(msat, at)).toBeGreaterThanOrEqual(due);
      if (msat > 1000) expect(worthOf(msat - 1000, at)).toBeLessThan(due);
    }),
  );
});
