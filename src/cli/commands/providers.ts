import { Command } from '@commander-js/extra-typings';
import type { EndedBench, ProviderView } from '../../shared/contract/providers.ts';
import { getProvider, retryProvider } from '../../shared/endpoints.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

type CurrentBench = ProviderView['benches'][number];
type Learned = ProviderView['learned'][number];

export const showProviderCommand = (context: Context) =>
  new Command('show')
    .argument('<provider>', 'a provider or an upstream')
    .addHelpText('after', example('gateway providers show openai'))
    .action((provider) => showProvider(context, provider));

async function showProvider(context: Context, provider: string): Promise<void> {
  const found = await context.client().call(getProvider, { params: { provider } });
  await context.out.record(found, providerColumns);
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  if (found.keys?.length > 0) {
    context.out.text('\n');
    await context.out.table(found.keys, keyColumns(context.now()), { empty: '' });
  }
  if (found.benches.length > 0) {
    context.out.text('\n');
    await context.out.table(found.benches, benchColumns(context.now()), { empty: '' });
  }
  if (found.learned.length > 0) {
    context.out.text('\n');
    await context.out.table(found.learned, learnedColumns(context.now()), { empty: '' });
    context.out.note('Forgotten after an hour, and with: gateway reload');
  }
}

const providerColumns: Column<ProviderView>[] = [
  { title: 'provider', value: ({ provider }) => provider },
  { title: 'kind', value: ({ kind }) => kind },
  {
    title: 'base_url',
    value: ({ base_url }) => base_url,
    show: ({ base_url }) => base_url ?? 'in the daemon',
  },
  {
    title: 'formats',
    value: ({ formats }) => formats.join(' '),
    show: ({ formats }) => formats.join(' ') || 'its own',
  },
  {
    title: 'key',
    value: ({ key }) => key.variable,
    show: ({ key }) =>
      key.sealed
        ? 'in the vault'
        : key.variable === null
          ? 'none needed'
          : `${key.variable}, ${key.set ? 'set' : 'not set'}`,
  },
  // Older daemons do not report them.
  { title: 'keys', value: ({ keys }) => keys?.map(({ name, hint }) => `${name}=${hint}`).join(' ') },
  { title: 'models', value: ({ models }) => models },
  {
    title: 'state',
    value: ({ state }) => state,
    style: ({ state }) => (state === 'available' ? 'green' : 'yellow'),
  },
  { title: 'reason', value: ({ reason }) => reason, show: ({ reason }) => reason ?? '–' },
  {
    title: 'concurrency',
    // Older daemons do not report it.
    value: ({ concurrency }) => concurrency?.calls,
    show: ({ concurrency: limit }) =>
      limit ? `${limit.running} of ${limit.calls} running, ${limit.waiting} waiting` : 'no limit',
  },
  { title: 'dropped', value: ({ dropped }) => dropped.join(' ') },
  {
    title: 'renamed',
    value: ({ renamed }) =>
      Object.entries(renamed)
        .map(([from, to]) => `${from}=${to}`)
        .join(' '),
  },
  { title: 'benches', value: ({ benches }) => benches.map(benchText).join('; ') },
  { title: 'learned', value: ({ learned }) => learned.map(learnedText).join('; ') },
];

const keyColumns = (now: number): Column<ProviderView['keys'][number]>[] => [
  { title: 'key', value: ({ name }) => name },
  { title: 'ends with', value: ({ hint }) => hint },
  { title: 'requests', value: ({ attempts }) => attempts, align: 'right' },
  { title: 'failed', value: ({ failed }) => failed, align: 'right' },
  { title: 'last used', value: ({ last_used_at: at }) => at, show: ({ last_used_at: at }) => ago(at, now) },
  {
    title: 'benched',
    value: ({ is_benched: isBenched }) => isBenched,
    show: ({ is_benched: isBenched }) => (isBenched ? 'yes' : '–'),
    style: ({ is_benched: isBenched }) => (isBenched ? 'yellow' : undefined),
  },
];

function benchText({ model, workspace, key, reason }: CurrentBench): string {
  const ofKey = key ? ` with ${key}` : '';
  return `${model ?? 'all models'}${workspace === null ? '' : ` of ${workspace}`}${ofKey}: ${reason}`;
}

function learnedText({ model, member, change, becomes }: Learned): string {
  return `${model}: ${member} ${changeText({ change, becomes })}`;
}

function changeText({ change, becomes }: Pick<Learned, 'change' | 'becomes'>): string {
  if (change === 'lowered') return `at most ${becomes}`;
  return change === 'left-out' ? 'left out' : change === 'added' ? 'added' : `as ${becomes}`;
}

const endedColumns: Column<EndedBench>[] = [
  { title: 'workspace', value: ({ workspace }) => workspace, show: ({ workspace }) => workspace ?? 'host' },
  { title: 'model', value: ({ model }) => model, show: ({ model }) => model ?? 'all' },
  { title: 'reason', value: ({ reason }) => reason },
];

const benchColumns = (now: number): Column<CurrentBench>[] => [
  { title: 'benched', value: ({ model }) => model, show: ({ model }) => model ?? 'all models' },
  {
    title: 'account',
    value: ({ workspace }) => workspace,
    show: ({ workspace }) => workspace ?? 'host',
    isSpare: true,
  },
  { title: 'reason', value: ({ reason }) => reason },
  { title: 'since', value: ({ since }) => since, show: ({ since }) => ago(since, now) },
  {
    title: 'next_attempt',
    label: 'next attempt',
    value: ({ next_attempt_at }) => next_attempt_at,
    show: ({ next_attempt_at }) => next_attempt_at ?? 'now',
  },
];

const learnedColumns = (now: number): Column<Learned>[] => [
  { title: 'model', value: ({ model }) => model },
  { title: 'member', value: ({ member }) => member },
  { title: 'sent', value: changeText },
  { title: 'learned', value: ({ learned_at }) => learned_at, show: ({ learned_at }) => ago(learned_at, now) },
];

export const retryProviderCommand = (context: Context) =>
  new Command('retry')
    .argument('<provider>', 'a provider or an upstream')
    .addHelpText('after', example('gateway providers retry openai'))
    .action(async (provider) => {
      const { ended } = await context.client().call(retryProvider, { params: { provider } });
      await context.out.table(ended, endedColumns, { empty: `${provider} was not benched.` });
    });
