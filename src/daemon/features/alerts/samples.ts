import { isLatency } from '../../../shared/constants/alert-kinds.ts';
import type { MeteringStore, Series } from '../metering/index.ts';
import type { BenchPeriod } from '../routing/index.ts';
import type { TracesStore } from '../traces/index.ts';
import { noSample, type Sample } from './sample.ts';
import type { AlertCondition } from './store.ts';
import type { Window } from './windows.ts';

export interface SamplesDeps {
  metering: Pick<MeteringStore, 'series' | 'latency'>;
  traces: Pick<TracesStore, 'rejectedCalls'>;
  /** When providers were benched for a workspace. */
  benches(workspaceId: string): readonly BenchPeriod[];
}

type Watched = AlertCondition & { workspaceId: string };

/** Reads samples from totals: one for each of some adjoining windows. */
export function createSampler(deps: SamplesDeps) {
  return async (watched: Watched, windows: readonly Window[]): Promise<Sample[]> => {
    if (isLatency(watched.kind)) return await latencies(deps, watched, windows);
    if (watched.kind === 'rejections') return await rejections(deps, watched, windows);
    if (watched.kind === 'benched') return benches(deps, watched, windows);
    return await usage(deps, watched, windows);
  };
}

export type Sampler = ReturnType<typeof createSampler>;

async function usage({ metering }: SamplesDeps, watched: Watched, buckets: readonly Window[]) {
  const { kind, workspaceId, keyId, model, provider } = watched;
  const series = await metering.series({
    workspaceId,
    keyId: keyId ?? undefined,
    model: model ?? undefined,
    provider: provider ?? undefined,
    status: undefined,
    buckets,
    groupBy: undefined,
    top: 1,
  });
  const amountOf = (point: Series['points'][number] | undefined): number =>
    (kind === 'error_share' ? point?.errors : point?.charged) ?? 0;
  const sum = (index: number, of: (point: Series['points'][number] | undefined) => number): number =>
    series.reduce((total, { points }) => total + of(points[index]), 0);
  return buckets.map((_, index) => ({
    ...noSample,
    calls: sum(index, (point) => point?.requests ?? 0),
    amount: sum(index, amountOf),
  }));
}

async function latencies({ metering }: SamplesDeps, watched: Watched, buckets: readonly Window[]) {
  const { kind, workspaceId, model, provider } = watched;
  const [all] = await metering.latency({
    workspaceId,
    model: model ?? undefined,
    provider: provider ?? undefined,
    buckets,
    groupBy: undefined,
  });
  const histograms = kind === 'p95_total' ? all?.total : all?.firstToken;
  return buckets.map((_, index) => ({ ...noSample, latency: histograms?.[index] ?? noSample.latency }));
}

async function rejections({ traces }: SamplesDeps, watched: Watched, buckets: readonly Window[]) {
  const { workspaceId, keyId, model } = watched;
  const counts = await traces.rejectedCalls({
    workspaceId,
    keyId: keyId ?? undefined,
    model: model ?? undefined,
    buckets,
  });
  return counts.map((amount) => ({ ...noSample, amount }));
}

function benches({ benches: of }: SamplesDeps, watched: Watched, buckets: readonly Window[]): Sample[] {
  const periods = of(watched.workspaceId).filter(
    ({ provider, providerModel }) =>
      (watched.provider === null || watched.provider === provider) &&
      (watched.model === null || providerModel === undefined || isModel(watched.model, providerModel)),
  );
  return buckets.map(({ start, end }) => ({
    ...noSample,
    benched: new Set(
      periods
        .filter(({ since, until }) => since < end && until > start)
        .map(({ provider, providerModel }) =>
          providerModel === undefined ? provider : `${provider} (${providerModel})`,
        ),
    ),
  }));
}

/** The catalog's name ends with that of the provider: `openai/gpt-5` with `gpt-5`. */
function isModel(model: string, providerModel: string): boolean {
  return (
    model === providerModel || model.endsWith(`/${providerModel}`) || providerModel.endsWith(`/${model}`)
  );
}
