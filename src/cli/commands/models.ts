import { Command } from '@commander-js/extra-typings';
import type {
  ModelEntry,
  ModelProvider,
  PricesView,
  RefreshedProvider,
} from '../../shared/contract/models.ts';
import { getModel, listModels, refreshModels } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { duration } from '../../view/durations.ts';
import { dollars } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { csvOption, delimiterOption, example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const listModelsCommand = (context: Context) =>
  new Command('list')
    .option('--match <text>', 'only models whose id contains this text')
    .option('--all', 'include models that cannot be used now')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway models list --match gpt --json=id'))
    .action((options) => listModelsAndShow(context, options));

interface Filter {
  match?: string | undefined;
  all?: true | undefined;
}

async function listModelsAndShow(context: Context, { match = '', all }: Filter): Promise<void> {
  const matching = async (query: { all?: true }) => {
    const { data } = await context.client().call(listModels, { query });
    return data.filter((model) => model.id.toLowerCase().includes(match.toLowerCase()));
  };
  const isForPerson = context.io.stdout.isTty && !context.out.wantsJson();
  const [models, every] = await Promise.all([
    matching(all ? { all } : {}),
    isForPerson && !all ? matching({ all: true }) : undefined,
  ]);
  await context.out.table(models, modelColumns, { empty: 'No models.' });
  if (!isForPerson) return;
  const hidden = every ? every.length - models.length : 0;
  if (models.length > 0) context.out.note(priceUnit);
  if (hidden > 0) context.out.note(`${hidden} more cannot be used now: gateway models list --all`);
}

export const showModelCommand = (context: Context) =>
  new Command('show')
    .argument('<model>', 'its id, or any name that a call can use')
    .addHelpText('after', example('gateway models show sim/assistant'))
    .action((model) => showModel(context, model));

async function showModel(context: Context, name: string): Promise<void> {
  const model = await context.client().call(getModel, { params: { model: name } });
  await context.out.record(model, modelRecordColumns);
  if (context.out.wantsJson() || context.out.isQuiet() || !context.io.stdout.isTty) return;
  context.out.text('\n');
  await context.out.table(model.service.providers, providerColumns, { empty: 'No providers.' });
  if (model.service.providers.length > 0) context.out.note(priceUnit);
}

const columns: Column<RefreshedProvider>[] = [
  { title: 'provider', value: (row) => row.provider },
  { title: 'models', value: (row) => row.models, align: 'right' },
  { title: 'before', value: (row) => row.models_before, align: 'right' },
  { title: 'added', value: (row) => row.added.join(' ') },
  { title: 'state', value: (row) => row.error ?? 'ok', style: (row) => (row.error ? 'red' : 'green') },
];

export const refreshModelsCommand = (context: Context) =>
  new Command('refresh')
    .addHelpText('after', example('gateway models refresh'))
    .action(() => refreshAndShow(context));

async function refreshAndShow(context: Context): Promise<void> {
  const { data } = await context.client().call(refreshModels, {});
  await context.out.table(data, columns, { empty: 'No provider has a key.' });
  if (data.some(({ error }) => error !== null)) context.exit = exitCodes.partlyDone;
}

export const priceUnit = 'Prices are dollars per million tokens.';

const modelColumns: Column<ModelEntry>[] = [
  { title: 'model', value: (model) => model.id },
  {
    title: 'input_usd',
    value: (model) => model.service.prices?.input,
    show: (model) => dollars(model.service.prices?.input),
    align: 'right',
  },
  {
    title: 'output_usd',
    value: (model) => model.service.prices?.output,
    show: (model) => dollars(model.service.prices?.output),
    align: 'right',
  },
  {
    title: 'context',
    value: (model) => model.service.context_length,
    show: (model) => numberOrUnknown(model.service.context_length),
    align: 'right',
  },
  { title: 'can', value: (model) => abilities(model), isSpare: true },
  {
    title: 'providers',
    value: (model) => availableProviders(model),
    show: (model) => availableProviders(model) || 'none available',
    style: (model) => (availableProviders(model) ? 'green' : 'dim'),
  },
];

export const modelRecordColumns: Column<ModelEntry>[] = [
  { title: 'id', value: (model) => model.id },
  { title: 'name', value: (model) => model.service.name },
  { title: 'description', value: (model) => model.service.description },
  {
    title: 'context_length',
    value: (model) => model.service.context_length,
    show: (model) => numberOrUnknown(model.service.context_length),
  },
  {
    title: 'max_output_tokens',
    value: (model) => model.service.max_output_tokens,
    show: (model) => numberOrUnknown(model.service.max_output_tokens),
  },
  {
    title: 'kind',
    value: (model) => model.service.capabilities.kind,
    show: (model) => model.service.capabilities.kind ?? 'unknown',
  },
  { title: 'input', value: (model) => model.service.capabilities.input_modalities.join(' ') },
  { title: 'output', value: (model) => model.service.capabilities.output_modalities.join(' ') },
  { title: 'can', value: (model) => abilities(model) },
  {
    title: 'other_prices',
    value: (model) => otherPrices(model.service.prices, String),
    show: (model) => otherPrices(model.service.prices, dollars) || 'none',
  },
  {
    title: 'providers',
    value: (model) => availableProviders(model),
    show: (model) => availableProviders(model) || 'none available',
  },
];

export const providerColumns: Column<ModelProvider>[] = [
  {
    title: 'provider',
    value: (provider) => provider.provider,
    style: (provider) => (provider.available ? 'green' : 'dim'),
  },
  { title: 'model there', value: (provider) => provider.model, isSpare: true },
  priceColumn('input_usd', (provider) => provider.prices?.input),
  { ...priceColumn('cached_usd', (provider) => provider.prices?.cached_input), isSpare: true },
  priceColumn('output_usd', (provider) => provider.prices?.output),
  {
    title: 'first token',
    value: (provider) => provider.live?.ttft_ms_p50,
    show: ({ live }) => duration(live?.ttft_ms_p50),
    align: 'right',
    isSpare: true,
  },
  {
    title: 'state',
    value: (provider) => (provider.available ? 'available' : (provider.reason ?? 'unavailable')),
  },
];

export function availableProviders(model: ModelEntry): string {
  const available = model.service.providers.filter((provider) => provider.available);
  // An alias can stand for several models of one provider.
  return [...new Set(available.map((provider) => provider.provider))].join(' ');
}

function abilities({ service: { capabilities } }: ModelEntry): string {
  const { kind, tools, structured_output, reasoning, logprobs, input_modalities } = capabilities;
  if (kind === 'embedding' || kind === 'decision') return `${kind}s`;
  const named = { tools, json: structured_output, reasoning, logprobs };
  const known = Object.entries(named).filter(([, can]) => can === true);
  return [...known.map(([name]) => name), ...input_modalities.filter((kind) => kind !== 'text')].join(' ');
}

/** Prices other than text: audio and images per million tokens, the provider's own tools per use. */
function otherPrices(prices: PricesView | null, write: (price: string) => string): string {
  const { audio_input, cached_audio, audio_output, image_output, fees = {} } = prices ?? {};
  const byTokens = { audio_input, cached_audio, audio_output, image_output };
  const listed = (all: Record<string, string | undefined>, unit: string) =>
    Object.entries(all).flatMap(([name, price]) => (price ? [`${name} ${write(price)}${unit}`] : []));
  return [...listed(byTokens, ''), ...listed(fees, ' each')].join(', ');
}

function priceColumn(
  title: string,
  value: (provider: ModelProvider) => string | undefined,
): Column<ModelProvider> {
  return { title, value, show: (provider) => dollars(value(provider)), align: 'right' };
}

function numberOrUnknown(number: number | null): string {
  return number === null ? 'unknown' : count(number);
}
