import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { wholeNumber } from '../number-option.ts';

/** What the flags of `limitFlags` say. */
export interface LimitFlags {
  spendCap?: LimitsChange['spend_cap'];
  maxPrice?: LimitsChange['max_price'];
  model?: string[] | undefined;
  rpm?: number | undefined;
  expires?: Expiry | undefined;
}

/** A time, or how long from now on in milliseconds. */
export type Expiry = { at: string } | { inMs: number };

/** Adds what limits a key: the same flags wherever limits are set. */
export function limitFlags<A extends unknown[], O extends Record<string, unknown>>(command: Command<A, O>) {
  return command
    .addOption(
      new Option('--spend-cap <usd/period>', 'the most it may spend: 5/day, 20/month, 100/total').argParser(
        spendCap,
      ),
    )
    .addOption(
      new Option(
        '--max-price <input,output>',
        'dollars per million tokens: 1.5,6 (either may be left out: ,6)',
      ).argParser(maxPrice),
    )
    .option('--model <pattern...>', 'the models it may ask; * stands for any characters')
    .addOption(
      new Option('--rpm <count>', 'calls in any 60 seconds').argParser(
        wholeNumber({ min: 1, max: 1_000_000 }),
      ),
    )
    .addOption(
      new Option('--expires <time>', 'when it ends: 30d, 12h, or a time like 2027-01-31T00:00:00Z').argParser(
        expiry,
      ),
    );
}

/** What is sent for the flags that were given; `now` in milliseconds since 1970. */
export function limitsChange(flags: LimitFlags, now: number): LimitsChange {
  const { spendCap: spend_cap, maxPrice: max_price, model: models, rpm, expires } = flags;
  return {
    ...(spend_cap !== undefined && { spend_cap }),
    ...(max_price !== undefined && { max_price }),
    ...(models !== undefined && { models }),
    ...(rpm !== undefined && { requests_per_minute: rpm }),
    ...(expires !== undefined && { expires_at: timeOf(expires, now) }),
  };
}

function timeOf(expires: Expiry, now: number): string {
  return 'at' in expires ? expires.at : new Date(now + expires.inMs).toISOString();
}

const amount = /^\d{1,7}(\.\d{1,9})?$/;

function spendCap(text: string): NonNullable<LimitsChange['spend_cap']> {
  const [usd = '', period = 'total', ...rest] = text.replace(/^\$/, '').split('/');
  const isPeriod = period === 'day' || period === 'month' || period === 'total';
  if (amount.test(usd) && isPeriod && rest.length === 0) return { usd, period };
  throw new InvalidArgumentError('It must be dollars and a period, like 5/day, 20/month or 100/total.');
}

function maxPrice(text: string): NonNullable<LimitsChange['max_price']> {
  const [input = '', output = '', ...rest] = text.split(',').map((part) => part.trim().replace(/^\$/, ''));
  const isPrice = (part: string) => part === '' || amount.test(part);
  if (rest.length === 0 && input + output !== '' && isPrice(input) && isPrice(output)) {
    return { input: input || null, output: output || null };
  }
  throw new InvalidArgumentError('It must be dollars per million tokens, like 1.5,6 or ,6.');
}

const hourMs = 3_600_000;
const units: Readonly<Record<string, number>> = {
  m: 60_000,
  h: hourMs,
  d: 24 * hourMs,
  w: 7 * 24 * hourMs,
};

const farthestMs = 36_500 * 24 * hourMs;

function expiry(text: string): Expiry {
  const [, count = '', unit = ''] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  if (unit !== '') {
    const inMs = Number(count) * (units[unit] ?? 0);
    if (inMs > 0 && inMs <= farthestMs) return { inMs };
    throw new InvalidArgumentError(
      'It must be from 1m to 36500d; leave it out for a key that does not end, or take it away with --clear expires.',
    );
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return { at: `${text}T00:00:00Z` };
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.test(text)) return { at: text };
  throw new InvalidArgumentError('It must be like 30d, 12h, 2027-01-31 or 2027-01-31T00:00:00Z.');
}
