import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IncomingAnswer } from '../../../../src/daemon/base/world.ts';
import {
  msatFor,
  type RateSettings,
  Rates,
  valueAt,
  worthOf,
} from '../../../../src/daemon/features/payment-required/rates.ts';

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
    '{"usd":true}',
    '{"usd":[65000]}',
    '{"usd":"0x10"}',
    '{"usd":"0xffff"}',
    '{"usd":"1e5"}',
    '{"usd":" 65000"}',
    '{"usd":"65000 USD"}',
    '{"usd":"Infinity"}',
    '{"usd":0.01}',
    '{"usd":"0.01"}',
    '{"usd":999.99}',
    '{"usd":9000000.01}',
  ])('is none when the source answers %j, and it is not asked again at once', async (text) => {
    const { deps, clock, asked, warnings } = source(text, '{"usd":50000}');
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
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(50_000) });
  });

  test('is none once the last one is too old and the source fails', async () => {
    const { deps, clock } = source('50000', new Error('down'));
    const rates = new Rates({ ...deps, settings: settings({ url }), isPlayMoney: () => false });
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(50_000) });
    clock.at += 60_000;
    expect(await rates.current()).toBeUndefined();
  });

  const hour = 60 * 60_000;
  test.each([
    ['a little', '50000', '60000', 60_000, true],
    ['down a little', '50000', '41000', 60_000, true],
    ['too much', '50000', '63000', 60_000, false],
    ['down too much', '50000', '39000', 60_000, false],
    ['by its unit', '50000', '5000000', 5 * hour, false],
    ['much in a long time', '50000', '150000', 6 * hour, true],
    ['too much even for that time', '50000', '200000', 6 * hour, false],
  ])('that changed %s is compared with the last one', async (_how, last, next, ms, isPlausible) => {
    const { deps, clock, warnings } = source(last, next);
    const rates = new Rates({ ...deps, settings: settings({ url }), isPlayMoney: () => false });
    await rates.current();
    clock.at += ms;
    const expected = isPlausible ? { perBitcoin: dollars(Number(next)) } : undefined;
    if (expected) expect(await rates.current()).toMatchObject(expected);
    else expect(await rates.current()).toBeUndefined();
    expect(warnings).toHaveLength(isPlausible ? 0 : 1);
  });

  test('of another source is not compared with the last one', async () => {
    const { deps, clock } = source('50000', '{"usd":90000}');
    const changing = settings({ url });
    const rates = new Rates({ ...deps, settings: changing, isPlayMoney: () => false });
    await rates.current();
    clock.at += 60_000;
    changing.pointer = '/usd';
    expect(await rates.current()).toMatchObject({ perBitcoin: dollars(90_000) });
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

test('rounding never costs the host, and at most one satoshi more than is due', () => {
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
