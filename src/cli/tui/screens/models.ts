import type { ModelEntry } from '../../../shared/contract/models.ts';
import { listModels } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { briefRate, count, percent } from '../../../view/numbers.ts';
import { availableProviders, modelRecordColumns, priceUnit, providerColumns } from '../../commands/models.ts';
import { alignedTable } from '../../output/table.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import type { ListColumn } from '../text/list-table.ts';
import { askModel } from './ask-model.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

/** The models with their prices, and the speed measured by this daemon in the last hour. */
export const modelsScreen: Screen<ModelEntry> = {
  id: 'models',
  title: 'Models',
  letter: 'm',
  aliases: ['model', 'prices'],
  empty: ['No models.'],
  footer: ['open', 'compose', 'filter', 'copy', 'refresh'],
  refreshEveryMs: 30_000,
  columns: () => columns,
  load: async ({ client }) => (await client.call(listModels, { query: { all: true } })).data,
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway models show ${id}`,
  json: (model) => model,
  summary: (models, _services, { width }) => {
    const available = models.filter((model) => availableProviders(model) !== '').length;
    return wrapLine(`${count(available)} of ${count(models.length)} are available. ${priceUnit}`, width);
  },
  compose: {
    label: 'ask',
    labelFor: ({ id }) => `ask ${id}`,
    placeholder: 'a question for the selected model',
    needsRow: true,
    run: (text, services, row) => askModel({ text, model: row?.id }, services),
  },
  preview: (model, options) => recordLines(model, modelRecordColumns, options),
  open: async (model) =>
    recordPage(model.id, model, {
      columns: modelRecordColumns,
      more: ({ width, paint }) =>
        alignedTable(model.service.providers, providerColumns, { columns: width, paint })
          .trimEnd()
          .split('\n'),
      copy: model.id,
    }),
};

const columns: ListColumn<ModelEntry>[] = [
  {
    title: 'model',
    width: 24,
    grows: true,
    text: ({ id }) => id,
    style: (model) => (availableProviders(model) === '' ? 'dim' : undefined),
  },
  {
    title: 'input',
    width: 9,
    align: 'right',
    value: ({ service }) => service.prices?.input ?? null,
    text: ({ service }) => dollars(service.prices?.input),
  },
  {
    title: 'output',
    width: 9,
    align: 'right',
    value: ({ service }) => service.prices?.output ?? null,
    text: ({ service }) => dollars(service.prices?.output),
  },
  {
    title: 'context',
    width: 10,
    align: 'right',
    spare: 4,
    value: ({ service }) => service.context_length,
    text: ({ service }) => (service.context_length === null ? 'unknown' : count(service.context_length)),
  },
  {
    title: 'first',
    width: 7,
    align: 'right',
    spare: 2,
    value: ({ service }) => service.live?.ttft_ms_p50 ?? null,
    text: ({ service }) => duration(service.live?.ttft_ms_p50),
  },
  {
    title: 'tokens/s',
    width: 8,
    align: 'right',
    spare: 3,
    value: ({ service }) => service.live?.tokens_per_second_p50 ?? null,
    text: ({ service }) =>
      service.live?.tokens_per_second_p50 == null ? '–' : briefRate(service.live.tokens_per_second_p50),
  },
  {
    title: 'success',
    width: 9,
    align: 'right',
    spare: 5,
    value: ({ service }) => service.live?.uptime ?? null,
    text: ({ service }) => (service.live ? percent(service.live.uptime) : '–'),
  },
  {
    title: 'providers',
    width: 16,
    spare: 1,
    text: (model) => availableProviders(model) || 'none',
    style: (model) => (availableProviders(model) ? 'green' : 'dim'),
  },
];
