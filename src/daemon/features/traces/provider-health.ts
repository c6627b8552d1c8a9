import {
  getProvidersHealth,
  healthStripLength,
  type ProviderHealth,
} from '../../../shared/contract/provider-health.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, implement, keyOrLogin } from '../../base/handler.ts';
import { distribution, timeBound } from '../metering/index.ts';
import type { BenchPeriod } from '../routing/index.ts';
import type { AttemptsOfModel, TracesStore } from './store.ts';

const halfHourMs = 30 * 60_000;
const periodsMax = 20;
/** The error code of an attempt whose request was invalid, which says nothing about the provider. */
const callersFault = 'invalid_request';

interface ProviderHealthDeps {
  store: Pick<TracesStore, 'attempts'>;
  /** When providers were benched for a workspace, oldest first. */
  benches(workspaceId: string): readonly BenchPeriod[];
  now: () => number;
}

type Period = Pick<BenchPeriod, 'provider' | 'model'>;

/** How providers answered the attempts of a workspace, and when they were benched. */
export const providerHealthHandlers = ({ store, benches, now }: ProviderHealthDeps): Handler[] => [
  implement(getProvidersHealth, async ({ caller, query }) => {
    const { workspaceId } = keyOrLogin(caller);
    const at = now();
    const slot = Math.floor(at / halfHourMs);
    const asked = timeBound('since', query.since, { now: at }) ?? at - 24 * 60 * 60_000;
    const since = Math.floor(asked / halfHourMs) * halfHourMs;
    const stripFrom = slot - healthStripLength + 1;
    const found = await store.attempts({
      workspaceId,
      since,
      stripSince: stripFrom * halfHourMs,
      callersFault,
    });
    const periods = benches(workspaceId);
    const known = [...found, ...unasked(periods, found)];
    return {
      object: 'list',
      since: isoTime(since),
      data: known
        .sort((a, b) => compareNames(a.provider, b.provider) || attemptsOf(b) - attemptsOf(a))
        .map((model) => healthView(model, { periods, stripFrom, now: at })),
      has_more: false,
      next: null,
    };
  }),
];

/** Models that were benched, but not asked since. */
function unasked(periods: readonly BenchPeriod[], found: readonly AttemptsOfModel[]): AttemptsOfModel[] {
  const named = new Map<string, AttemptsOfModel>();
  for (const { provider, model } of periods) {
    if (model === undefined || found.some((one) => one.provider === provider && one.model === model))
      continue;
    named.set(`${provider} ${model}`, {
      provider,
      model,
      answered: new Map(),
      errors: [],
      lastFailure: undefined,
      slots: [],
    });
  }
  return [...named.values()];
}

function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const countOf = (counts: readonly { attempts: number }[]) =>
  counts.reduce((sum, { attempts }) => sum + attempts, 0);

function attemptsOf({ answered, errors }: AttemptsOfModel): number {
  return [...answered.values()].reduce((sum, attempts) => sum + attempts, 0) + countOf(errors);
}

interface HealthContext {
  periods: readonly BenchPeriod[];
  stripFrom: number;
  now: number;
}

function healthView(model: AttemptsOfModel, { periods, stripFrom, now }: HealthContext): ProviderHealth {
  const attempts = attemptsOf(model);
  const failed = countOf(model.errors.filter(({ errorCode }) => errorCode !== callersFault));
  const { p50, p95 } = distribution(model.answered);
  const isOf = ({ provider, model: name }: Period) =>
    provider === model.provider && (name === undefined || name === model.model);
  const own = periods.filter(isOf).slice(-periodsMax);
  const bySlot = new Map(model.slots.map((slot) => [Math.floor(slot.start / halfHourMs), slot]));
  return {
    provider: model.provider,
    model: model.model,
    attempts,
    failed,
    share_ok: attempts === 0 ? null : Math.round((1 - failed / attempts) * 10_000) / 10_000,
    first_byte_ms: { p50, p95 },
    errors: model.errors
      .toSorted((a, b) => b.attempts - a.attempts)
      .map(({ errorCode, attempts: count }) => ({ error_code: errorCode, attempts: count })),
    last_failure: model.lastFailure
      ? {
          request_id: model.lastFailure.requestId,
          at: isoTime(model.lastFailure.at),
          status: model.lastFailure.status,
          error_code: model.lastFailure.errorCode,
          message: model.lastFailure.message,
        }
      : null,
    is_benched: own.some(({ until }) => until > now),
    benched: own.map(({ since, until, reason }) => ({
      since: isoTime(since),
      until: isoTime(until),
      reason,
    })),
    strip: Array.from({ length: healthStripLength }, (_, index) => ({
      start: isoTime((stripFrom + index) * halfHourMs),
      attempts: bySlot.get(stripFrom + index)?.attempts ?? 0,
      failed: bySlot.get(stripFrom + index)?.failed ?? 0,
    })),
  };
}
