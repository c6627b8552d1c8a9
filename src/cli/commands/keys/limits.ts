import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { getLimits, setLimits } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { example, wholeNumber } from '../../manifest/options.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { keyNamed } from './resolve-key.ts';

/** Names of flags, and the limits that they set. */
const clearable = {
  'spend-cap': 'spend_cap',
  'max-price': 'max_price',
  model: 'models',
  rpm: 'requests_per_minute',
  expires: 'expires_at',
} as const satisfies Record<string, keyof LimitsChange>;

type Clearable = keyof typeof clearable;

export const limitsCommand = (context: Context) =>
  limitFlags(
    new Command('limits')
      .addArgument(new Argument('<what>', 'get them, or set some of them').choices(['get', 'set'] as const))
      .argument('<key>', 'the key: its id, key_…, or its name')
      .option('--workspace <workspace>', 'the workspace that owns the key', 'me'),
  )
    .addOption(
      new Option('--clear <limit...>', 'what it is limited to no longer').choices(
        Object.keys(clearable) as Clearable[],
      ),
    )
    .addHelpText(
      'after',
      example('gateway keys limits set key_01jd… --spend-cap 5/day --rpm 60 --clear expires'),
    )
    .action((what, key, { workspace, clear = [], ...flags }) =>
      what === 'get'
        ? showLimits(context, { workspace, key, flags: { ...flags, clear } })
        : changeLimits(context, { workspace, key, flags: { ...flags, clear } }),
    );

interface Wish {
  workspace: string;
  key: string;
  flags: LimitFlags & { clear: Clearable[] };
}

function changeOf({ flags }: Wish, now: number): LimitsChange {
  const cleared = Object.fromEntries(flags.clear.map((name) => [clearable[name], null]));
  return { ...limitsChange(flags, now), ...cleared };
}

async function showLimits(context: Context, wish: Wish): Promise<void> {
  if (Object.keys(changeOf(wish, 0)).length > 0) {
    throw new CliError('Nothing was changed: get takes no limits.', {
      exit: exitCodes.usage,
      next: `To set them: gateway keys limits set ${wish.key} …`,
    });
  }
  const params = { workspace: wish.workspace, key: await keyNamed(context, wish) };
  const limits = await context.client().call(getLimits, { params });
  await context.out.record(limits, limitColumns(context.now()));
}

/** Sends what was named and leaves the rest as it is. */
async function changeLimits(context: Context, wish: Wish): Promise<void> {
  const body = changeOf(wish, context.now());
  if (Object.keys(body).length === 0) {
    throw new CliError('No limit was named.', {
      exit: exitCodes.usage,
      next: 'Name one: --spend-cap, --max-price, --model, --rpm, --expires, or --clear',
    });
  }
  const params = { workspace: wish.workspace, key: await keyNamed(context, wish) };
  const limits = await context.client().call(setLimits, { params, body });
  await context.out.record(limits, limitColumns(context.now()));
  context.out.note('It counts from the next call on.');
}

const none = 'none';

const limitColumns = (now: number): Column<Limits>[] => [
  {
    title: 'spend_cap',
    value: ({ spend_cap: cap }) => cap && `${cap.usd}/${cap.period}`,
    show: ({ spend_cap: cap }) => (cap ? `${dollars(cap.usd)} per ${cap.period}` : none),
  },
  {
    title: 'max_price_input_usd',
    value: (it) => it.max_price?.input,
    show: (it) => price(it.max_price?.input),
  },
  {
    title: 'max_price_output_usd',
    value: (it) => it.max_price?.output,
    show: (it) => price(it.max_price?.output),
  },
  { title: 'models', value: (it) => it.models?.join(' '), show: (it) => it.models?.join(' ') ?? 'all' },
  {
    title: 'requests_per_minute',
    value: (it) => it.requests_per_minute,
    show: (it) => String(it.requests_per_minute ?? none),
  },
  {
    title: 'expires_at',
    value: (it) => it.expires_at,
    show: (it) => (it.expires_at ? `${it.expires_at} (${ago(it.expires_at, now)})` : 'never'),
  },
];

function price(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? none : `${dollars(usd)} per million tokens`;
}

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

/** What a key is limited to, on one line; empty when nothing is. */
export function limitsText({
  spend_cap,
  max_price,
  models,
  requests_per_minute,
  expires_at,
}: Limits): string {
  const parts: string[] = [];
  if (spend_cap) parts.push(`$${spend_cap.usd} per ${spend_cap.period}`);
  if (max_price?.input) parts.push(`input ≤ $${max_price.input}`);
  if (max_price?.output) parts.push(`output ≤ $${max_price.output}`);
  if (models) parts.push(`models ${models.join(' ')}`);
  if (requests_per_minute) parts.push(`${requests_per_minute} requests per minute`);
  if (expires_at) parts.push(`until ${expires_at}`);
  return parts.join(', ');
}
