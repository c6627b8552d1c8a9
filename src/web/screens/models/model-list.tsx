import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listModels as contract } from '../../../shared/contract/models.ts';
import { listModels } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { briefCount, briefRate } from '../../../view/numbers.ts';
import { callsHref } from '../../data/calls-link.ts';
import { useQuery } from '../../data/query.ts';
import { route, setQuery } from '../../data/route.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { number } from '../../parts/table-head.tsx';

type Model = Result<typeof contract>['data'][number];
type Prices = NonNullable<Model['service']['prices']>;

const rowsAtFirst = 100;

const priceOf = (usd: string | undefined) => (usd === undefined ? undefined : Number(usd));

const perMillion = 'Dollars per million tokens';
const lastHour = 'Median of the last hour';

/** All models with prices and what was measured of them in the last hour. */
export function ModelList() {
  const query = useQuery(listModels, { query: { all: true } });
  const rowsMax = useSignal(rowsAtFirst);
  const { query: address } = route.value;
  const words = address.get('q') ?? '';
  const all = query.data?.data ?? [];
  const shown = useMemo(() => matching(query.data?.data ?? [], words), [query.data, words]);
  return (
    <Panel
      title={`Models${query.data ? ` (${shown.length === all.length ? all.length : `${shown.length} of ${all.length}`})` : ''}`}
      queries={[query]}
      tools={
        <input
          type="search"
          aria-label="Filter models"
          placeholder="gpt vision available"
          spellcheck={false}
          value={words}
          onInput={(event) => setQuery({ q: event.currentTarget.value || undefined })}
        />
      }
    >
      {shown.length === 0 ? (
        <p class="empty">{all.length === 0 ? 'No models.' : 'No model matches.'}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
        <section class="scroll models" tabIndex={0} aria-label="Models">
          <DataTable
            name="models"
            most={rowsMax.value}
            columns={[
              { name: 'Model', value: ({ id }) => id },
              { ...number('Context'), value: ({ service }) => service.context_length },
              { ...number('Input', perMillion), value: ({ service }) => priceOf(service.prices?.input) },
              {
                ...number('Cached', perMillion),
                value: ({ service }) => priceOf(service.prices?.cached_input),
              },
              { ...number('Output', perMillion), value: ({ service }) => priceOf(service.prices?.output) },
              { ...number('First token', lastHour), value: ({ service }) => service.live?.ttft_ms_p50 },
              {
                ...number('Tokens/s', lastHour),
                value: ({ service }) => service.live?.tokens_per_second_p50,
              },
              {
                name: 'Providers',
                value: ({ service }) => service.providers.map(({ provider }) => provider).join(', '),
              },
            ]}
            rows={shown}
          >
            {(model) => <ModelRow key={model.id} model={model} />}
          </DataTable>
        </section>
      )}
      {shown.length > rowsMax.value && (
        <button
          type="button"
          onClick={() => {
            rowsMax.value = shown.length;
          }}
        >
          Show all {shown.length}
        </button>
      )}
      <p class="quiet">Prices are dollars per million tokens. What was measured is of the last hour.</p>
    </Panel>
  );
}

/** The models with all the words in their name, providers or capabilities. */
function matching(models: readonly Model[], words: string): Model[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter((model) => {
    const text = searchText(model);
    return wanted.every((word) => text.includes(word));
  });
}

function searchText({ id, service: { name, providers, capabilities } }: Model): string {
  const { tools, reasoning, kind, input_modalities: inputs } = capabilities;
  const facts = [
    tools && 'tools',
    reasoning && 'reasoning',
    kind,
    ...inputs,
    inputs.includes('image') && 'vision',
    providers.some(({ available }) => available) && 'available',
  ];
  return [id, name, ...providers.map(({ provider }) => provider), ...facts].join(' ').toLowerCase();
}

function ModelRow({ model: { id, service } }: { model: Model }) {
  const { name, context_length: context, prices, live, providers } = service;
  const isAvailable = providers.some(({ available }) => available) || service.available === true;
  return (
    <tr class={isAvailable ? undefined : 'is-ended'}>
      <th scope="row" class="is-title" title={service.description ?? undefined}>
        {isAvailable ? <a href={callsHref({ model: id })}>{id}</a> : <span>{id}</span>}
        {name !== id && <span class="quiet sub">{name}</span>}
      </th>
      <td class="number is-minor">{context === null ? '–' : briefCount(context)}</td>
      <Price prices={prices} kind="input" />
      <Price prices={prices} kind="cached_input" isMinor />
      <Price prices={prices} kind="output" />
      <td class="number is-minor">{duration(live?.ttft_ms_p50)}</td>
      <td class="number is-minor">{briefRate(live?.tokens_per_second_p50)}</td>
      <td>
        <Providers model={service} />
      </td>
    </tr>
  );
}

function Price({
  prices,
  kind,
  isMinor = false,
}: {
  prices: Prices | null;
  kind: 'input' | 'cached_input' | 'output';
  isMinor?: boolean;
}) {
  return (
    <td class={isMinor ? 'number is-minor' : 'number'}>
      {prices === null ? <span class="quiet">unknown</span> : dollars(prices[kind])}
      <span class="only-narrow quiet"> {kind}</span>
    </td>
  );
}

/** Who serves it, and why others do not. */
function Providers({ model: { providers, reason } }: { model: Model['service'] }) {
  const first = providers.find((one) => one.reason !== null)?.reason ?? reason;
  const available = providers.filter((one) => one.available);
  if (available.length === 0) return <span class="reason">{first ?? 'not available'}</span>;
  return (
    <>
      {providers.map(({ provider, available: isAvailable, reason: why }, at) => (
        <span key={provider} class={isAvailable ? undefined : 'quiet'} title={why ?? undefined}>
          {at > 0 && ', '}
          {provider}
          {!isAvailable && ' (not available)'}
        </span>
      ))}
    </>
  );
}
