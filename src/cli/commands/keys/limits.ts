import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { queueDefaults } from '../../../shared/constants/queue-defaults.ts';
import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { getLimits, setLimits } from '../../../shared/endpoints.ts';
import type { Weekday } from '../../../shared/time/time-zones.ts';
import { ago, span } from '../../../view/durations.ts';
import { capText, pricePerMillion } from '../../../view/money.ts';
import { calendarOf, calendarOptions } from '../../calendar-options.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../failures/cli-error.ts';
import { resolveKey, resolveWorkspace } from '../../names/resolve.ts';
import { example, wholeNumber } from '../../options.ts';
import type { Column } from '../../output/table.ts';
import { futureTime, secondsTo } from '../../times.ts';

/** The flag of each limit. */
const clearable = {
  'spend-cap': 'spend_cap',
  'max-price': 'max_price',
  model: 'models',
  rpm: 'requests_per_minute',
  concurrency: 'concurrency',
  queue: 'queue_seconds',
  expires: 'expires_at',
} as const satisfies Record<string, keyof LimitsChange>;

type Clearable = keyof typeof clearable;

export const limitsCommand = (context: Context) =>
  limitFlags(
    new Command('limits')
      .addArgument(new Argument('<what>', 'show the limits or change them').choices(['get', 'set'] as const))
      .argument('<key>', "the key's id (key_…) or name")
      .option('--workspace <workspace>', 'the workspace that owns the key', 'me'),
    context,
  )
    .addOption(
      new Option('--clear <limit...>', 'remove these limits').choices(Object.keys(clearable) as Clearable[]),
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

interface LimitsCommand {
  workspace: string;
  key: string;
  flags: LimitFlags & { clear: Clearable[] };
}

function changeOf({ flags }: LimitsCommand): LimitsChange {
  const cleared = Object.fromEntries(flags.clear.map((name) => [clearable[name], null]));
  return { ...limitsChange(flags), ...cleared };
}

async function showLimits(context: Context, command: LimitsCommand): Promise<void> {
  if (Object.keys(changeOf(command)).length > 0) {
    throw usageError(
      'Nothing was changed: get takes no limit options.',
      `To change limits: gateway keys limits set ${command.key} …`,
    );
  }
  const workspace = await resolveWorkspace(context, command.workspace);
  const params = { workspace, key: await resolveKey(context, { ...command, workspace }) };
  const limits = await context.client().call(getLimits, { params });
  await context.out.record(limits, limitColumns(context.now()));
}

/** Changes only what was given. */
async function changeLimits(context: Context, command: LimitsCommand): Promise<void> {
  const body = changeOf(command);
  if (Object.keys(body).length === 0) {
    throw usageError(
      'No limit was given.',
      'Give --spend-cap, --max-price, --model, --rpm, --concurrency, --queue, --expires or --clear.',
    );
  }
  const workspace = await resolveWorkspace(context, command.workspace);
  const params = { workspace, key: await resolveKey(context, { ...command, workspace }) };
  const limits = await context.client().call(setLimits, { params, body });
  await context.out.record(limits, limitColumns(context.now()));
  context.out.note('This applies from the next call.');
}

const none = 'none';

const limitColumns = (now: number): Column<Limits>[] => [
  {
    title: 'spend_cap',
    value: ({ spend_cap: cap }) => cap && `${cap.usd}/${cap.period}`,
    show: ({ spend_cap: cap }) => (cap ? capText(cap) : none),
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
  { title: 'concurrency', value: (it) => it.concurrency, show: (it) => String(it.concurrency ?? none) },
  {
    title: 'queue_seconds',
    value: (it) => it.queue_seconds,
    show: (it) => span((it.queue_seconds ?? queueDefaults.queueMs / 1000) * 1000),
  },
  {
    title: 'expires_at',
    value: (it) => it.expires_at,
    show: (it) => (it.expires_at ? `${it.expires_at} (${ago(it.expires_at, now)})` : 'never'),
  },
];

function price(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? none : pricePerMillion(usd);
}

/** The values of the flags that `limitFlags` adds. */
interface LimitFlags {
  spendCap?: LimitsChange['spend_cap'];
  timeZone?: string | undefined;
  dayStarts?: string | undefined;
  weekStarts?: Weekday | undefined;
  maxPrice?: LimitsChange['max_price'];
  model?: string[] | undefined;
  rpm?: number | undefined;
  concurrency?: number | undefined;
  queue?: number | undefined;
  expires?: string | undefined;
}

/** Adds the options that set a key's limits. */
export function limitFlags<A extends unknown[], O extends Record<string, unknown>>(
  command: Command<A, O>,
  clock: Pick<Context, 'now'>,
) {
  return command
    .addOption(
      new Option(
        '--spend-cap <usd/period>',
        'spending limit: 5/day, 20/week, 50/month, 100/total; 100 alone is in total',
      ).argParser(keySpendCap),
    )
    .addOption(calendarOptions.timeZone())
    .addOption(calendarOptions.dayStarts())
    .addOption(calendarOptions.weekStarts())
    .addOption(
      new Option(
        '--max-price <input,output>',
        'maximum price in dollars per million tokens: 1.5,6; either may be omitted: ,6',
      ).argParser(maxPrice),
    )
    .option('--model <pattern...>', 'models it may call; * matches any characters')
    .addOption(
      new Option('--rpm <count>', 'calls per 60 seconds').argParser(wholeNumber({ min: 1, max: 1_000_000 })),
    )
    .addOption(
      new Option('--concurrency <count>', 'calls that run at a time; others wait').argParser(
        wholeNumber({ min: 1, max: 10_000 }),
      ),
    )
    .addOption(
      new Option('--queue <time>', 'how long they wait at most: 30s, 2m, 0s for not at all').argParser(
        secondsTo(3600),
      ),
    )
    .addOption(
      new Option('--expires <time>', 'when it expires: 30d, 12h, a UTC day or a time').argParser(
        futureTime(clock),
      ),
    );
}

/** The change that the given flags describe. */
export function limitsChange(flags: LimitFlags): LimitsChange {
  const { spendCap: cap, maxPrice: max_price, model: models, rpm, concurrency, queue, expires } = flags;
  const calendar = calendarOf(flags);
  if (!cap && Object.keys(calendar).length > 0) {
    throw usageError(
      'A time zone and starts of days and weeks are those of a spending limit.',
      'Give --spend-cap, too, like 5/day.',
    );
  }
  return {
    ...(cap !== undefined && { spend_cap: cap && { ...cap, ...calendar } }),
    ...(max_price !== undefined && { max_price }),
    ...(models !== undefined && { models }),
    ...(rpm !== undefined && { requests_per_minute: rpm }),
    ...(concurrency !== undefined && { concurrency }),
    ...(queue !== undefined && { queue_seconds: queue }),
    ...(expires !== undefined && { expires_at: expires }),
  };
}

const amount = /^\d{1,7}(\.\d{1,9})?$/;

/** A parser for the `--spend-cap` of a key. */
function keySpendCap(text: string): NonNullable<LimitsChange['spend_cap']> {
  const [usd = '', period] = text.replace(/^\$/, '').split('/');
  if (period === 'week' && amount.test(usd)) return { usd, period };
  return spendCap(text);
}

/** A parser for the `--spend-cap` of what has no weeks. */
export function spendCap(text: string): { usd: string; period: 'day' | 'month' | 'total' } {
  const [usd = '', period = 'total', ...rest] = text.replace(/^\$/, '').split('/');
  const isPeriod = period === 'day' || period === 'month' || period === 'total';
  if (amount.test(usd) && isPeriod && rest.length === 0) return { usd, period };
  throw new InvalidArgumentError('It must be an amount and a period, like 5/day, 20/month or 100/total.');
}

function maxPrice(text: string): NonNullable<LimitsChange['max_price']> {
  const [input = '', output = '', ...rest] = text.split(',').map((part) => part.trim().replace(/^\$/, ''));
  const isPrice = (part: string) => part === '' || amount.test(part);
  if (rest.length === 0 && input + output !== '' && isPrice(input) && isPrice(output)) {
    return { input: input || null, output: output || null };
  }
  throw new InvalidArgumentError('It must be dollars per million tokens, like 1.5,6 or ,6.');
}
