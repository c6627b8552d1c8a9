import { Command } from '@commander-js/extra-typings';
import type { KeyWithUse } from '../../../shared/contract/keys.ts';
import { showKey } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { example } from '../example.ts';
import { defaultsText } from './default-flags.ts';
import { keyNamed } from './key-named.ts';
import { limitsText } from './limits-text.ts';

export const showKeyCommand = (context: Context) =>
  new Command('show')
    .argument('<key>', 'the key: its id, key_…, or its name')
    .option('--workspace <workspace>', 'the workspace that owns the key', 'me')
    .addHelpText('after', example('gateway keys show key_01jd…'))
    .action(async (key, { workspace }) => {
      const params = { workspace, key: await keyNamed(context, { workspace, key }) };
      const shown = await context.client().call(showKey, { params });
      await context.out.record(shown, keyRecord(context.now()));
    });

/** One key and what of its limits is used up, seen from `now` (milliseconds). */
export const keyRecord = (now: number): Column<KeyWithUse>[] => [
  { title: 'id', value: (key) => key.id },
  { title: 'name', value: (key) => key.name },
  {
    title: 'status',
    value: (key) => key.status,
    style: (key) => (key.status === 'active' ? 'green' : 'red'),
  },
  { title: 'secret', value: (key) => key.hint },
  { title: 'scopes', value: (key) => key.scopes.join(' ') },
  {
    title: 'allowed_models',
    value: (key) => key.models?.join(' '),
    show: (key) => key.models?.join(' ') ?? 'all',
  },
  {
    title: 'allowed_actions',
    value: (key) => key.actions?.join(' '),
    show: (key) => key.actions?.join(' ') ?? 'all',
  },
  {
    title: 'limits',
    value: (key) => limitsText(key.limits),
    show: (key) => limitsText(key.limits) || 'none',
  },
  {
    title: 'defaults',
    value: (key) => defaultsText(key.defaults),
    show: (key) => defaultsText(key.defaults) || 'as the host has them',
  },
  ...(['day', 'month', 'total'] as const).map(
    (period): Column<KeyWithUse> => ({
      title: `spend_${period}_usd`,
      value: (key) => key.used.spend_usd[period],
      show: (key) => spendText(key, period),
      style: (key) => styleOf(spendShare(key, period)),
    }),
  ),
  {
    title: 'requests_last_minute',
    value: (key) => key.used.requests_last_minute,
    show: (key) => requestsText(key),
    style: (key) => styleOf(requestsShare(key)),
  },
  { title: 'created_at', value: (key) => key.created_at, show: (key) => ago(key.created_at, now) },
  { title: 'last_used_at', value: (key) => key.last_used_at, show: (key) => ago(key.last_used_at, now) },
];

type Period = 'day' | 'month' | 'total';

/** How much of a limit is used, from 0 on; undefined where nothing is limited. */
export function spendShare({ limits, used }: KeyWithUse, period: Period): number | undefined {
  if (limits.spend_cap?.period !== period) return undefined;
  const cap = Number(limits.spend_cap.usd);
  return cap === 0 ? 1 : Number(used.spend_usd[period]) / cap;
}

/** How much of the calls of a minute is used, from 0 on; undefined where they are not limited. */
export function requestsShare({ limits, used }: KeyWithUse): number | undefined {
  return limits.requests_per_minute === null
    ? undefined
    : used.requests_last_minute / limits.requests_per_minute;
}

function spendText(key: KeyWithUse, period: Period): string {
  const spent = dollars(key.used.spend_usd[period]);
  const share = spendShare(key, period);
  return share === undefined ? spent : `${bar(share)} ${spent} of ${dollars(key.limits.spend_cap?.usd)}`;
}

function requestsText(key: KeyWithUse): string {
  const share = requestsShare(key);
  const count = String(key.used.requests_last_minute);
  return share === undefined ? count : `${bar(share)} ${count} of ${key.limits.requests_per_minute}`;
}

const barWidth = 16;

/** `████████░░░░░░░░`: anything that is used shows, and only what is used up fills it. */
export function bar(share: number): string {
  const exact = Math.min(1, Math.max(0, share)) * barWidth;
  const full = exact >= barWidth ? barWidth : Math.min(barWidth - 1, Math.ceil(exact));
  return '█'.repeat(full) + '░'.repeat(barWidth - full);
}

function styleOf(share: number | undefined): 'red' | 'yellow' | undefined {
  if (share === undefined || share < 0.8) return undefined;
  return share >= 1 ? 'red' : 'yellow';
}
