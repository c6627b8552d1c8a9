import { type CallLabels, noLabels } from '../../../../shared/constants/call-labels.ts';
import type { MediaPrices, TokenPrices, ToolFees } from '../../../../shared/money/money.ts';
import type { CallTrace, UsageRecord } from '../../../features/metering/store.ts';
import type { Attempt } from '../../../features/routing/index.ts';

/**
 * The attempts and the trace of a call as nested arrays, which take a quarter of the space of objects. `Name` is a text on
 * the way to the writer, and its number in the table `names` in the database.
 */
export type CallDetails<Name = string> = [trace: TraceRow<Name> | null, ...attempts: AttemptRow<Name>[]];

type TraceRow<Name> = [
  admittedMs: number,
  heldMs: number | null,
  startedMs: number[],
  finishReason: Name | null,
  /** Provider and model of each route in turn. */
  routes: Name[],
  /** 0 where there is nothing, and something follows. */
  dropped?: CallTrace['dropped'] | 0,
  captured?: 0 | 1 | 2,
  providerReason?: string | 0,
  /** What a call would have cost for which the client's own login paid; null if that is unknown, false for other calls. */
  listCost?: number | null | false,
  /** What few calls have. */
  more?: Pick<CallTrace, 'hooks' | 'servedModel' | 'waits'>,
];

const capturedNumbers = { memory: 1, disk: 2 } as const;

type AttemptRow<Name> = [
  provider: Name,
  model: Name,
  status: number,
  errorCode: Name | null,
  ms: number,
  /** 0 where there is none, and a key follows. */
  message?: string | 0,
  /** 0 where there is none, and a model follows. */
  key?: string | 0,
  providerModel?: string,
];

export function callDetails({ attempts, trace }: Pick<UsageRecord, 'attempts' | 'trace'>): CallDetails {
  const row: TraceRow<string> | null = trace
    ? [trace.admittedMs, trace.heldMs, trace.startedMs, trace.finishReason, routeNames(trace)]
    : null;
  const captured = trace?.captured && capturedNumbers[trace.captured];
  const word = trace?.providerReason;
  const subscription = trace?.subscription;
  const { hooks, servedModel, waits } = trace ?? {};
  const more = (hooks || servedModel || waits) && {
    ...(hooks && { hooks }),
    ...(servedModel && { servedModel }),
    ...(waits && { waits }),
  };
  if (trace?.dropped || captured || word || subscription || more) row?.push(trace?.dropped ?? 0);
  if (captured || word || subscription || more) row?.push(captured ?? 0);
  if (word || subscription || more) row?.push(word ?? 0);
  if (subscription || more) row?.push(subscription ? subscription.listCost : false);
  if (more) row?.push(more);
  const details: CallDetails = [row];
  for (const { provider, model, status, errorCode, ms, message, key, providerModel } of attempts) {
    const attempt: AttemptRow<string> = [provider, model, status, errorCode, ms];
    if (message !== undefined || key !== undefined || providerModel !== undefined) attempt.push(message ?? 0);
    if (key !== undefined || providerModel !== undefined) attempt.push(key ?? 0);
    if (providerModel !== undefined) attempt.push(providerModel);
    details.push(attempt);
  }
  return details;
}

function routeNames({ routes }: CallTrace): string[] {
  const names: string[] = [];
  for (const { provider, model } of routes) names.push(provider, model);
  return names;
}

/** Replaces each name, by its number or by its text. */
export function mapNames<From, To>(
  [trace, ...attempts]: CallDetails<From>,
  map: (name: From) => To,
): CallDetails<To> {
  const mapNullable = (name: From | null) => (name === null ? null : map(name));
  let traceRow: TraceRow<To> | null = null;
  if (trace) {
    const [admittedMs, heldMs, startedMs, finishReason, routes, ...others] = trace;
    traceRow = [admittedMs, heldMs, startedMs, mapNullable(finishReason), routes.map(map), ...others];
  }
  const attemptRows = attempts.map(
    ([provider, model, status, errorCode, ms, ...others]): AttemptRow<To> => [
      map(provider),
      map(model),
      status,
      mapNullable(errorCode),
      ms,
      ...others,
    ],
  );
  return [traceRow, ...attemptRows];
}

export function readDetails([trace, ...attempts]: CallDetails): { attempts: Attempt[]; trace?: CallTrace } {
  return {
    attempts: attempts.map(([provider, model, status, errorCode, ms, message, key = 0, providerModel]) => ({
      provider,
      model,
      status,
      errorCode,
      ms,
      ...(message && { message }),
      ...(key !== 0 && { key }),
      ...(providerModel !== undefined && { providerModel }),
    })),
    ...(trace && { trace: readTrace(trace) }),
  };
}

function readTrace([
  admittedMs,
  heldMs,
  startedMs,
  finishReason,
  names,
  dropped,
  captured,
  providerReason,
  listCost = false,
  more,
]: TraceRow<string>): CallTrace {
  const routes: CallTrace['routes'] = [];
  for (let index = 0; index < names.length; index += 2) {
    routes.push({ provider: names[index] ?? '', model: names[index + 1] ?? '' });
  }
  return {
    admittedMs,
    heldMs,
    startedMs,
    finishReason,
    ...(providerReason && { providerReason }),
    routes,
    ...(dropped && { dropped }),
    ...(captured && { captured: captured === capturedNumbers.disk ? 'disk' : 'memory' }),
    ...(listCost !== false && { subscription: { listCost } }),
    ...more,
  };
}

/** The labels of a running call as a JSON array, in the order of its columns in `calls`; null if it has none. */
export function labelsText(labels: CallLabels): string | null {
  if (labels === noLabels) return null;
  const { client, user, conversation, tags, replayOf } = labels;
  return JSON.stringify([client, user, conversation, tagsText(tags), replayOf]);
}

export function readLabelsText(text: string | null): CallLabels {
  if (text === null) return noLabels;
  const [client, user, conversation, tags, replayOf] = JSON.parse(text) as (string | null)[];
  return {
    client: client ?? null,
    user: user ?? null,
    conversation: conversation ?? null,
    tags: readTags(tags ?? null),
    replayOf: replayOf ?? null,
  };
}

/** Tags as a JSON array of `name=value`; null if there are none. */
export function tagsText(tags: CallLabels['tags']): string | null {
  let texts: string[] | undefined;
  for (const name in tags) {
    texts ??= [];
    texts.push(`${name}=${tags[name]}`);
  }
  return texts ? JSON.stringify(texts) : null;
}

export function readTags(text: string | null): CallLabels['tags'] {
  return text === null ? noLabels.tags : tagsOf(JSON.parse(text) as string[]);
}

export function tagsOf(texts: readonly string[]): CallLabels['tags'] {
  return Object.fromEntries(
    texts.map((text) => {
      const end = text.indexOf('=');
      return [text.slice(0, end), text.slice(end + 1)];
    }),
  );
}

/** Prices as JSON, which many calls share: `[input, cachedInput, cacheWrite, output, media?, fees?]`. */
type PricesRow = [
  input: number,
  cachedInput: number,
  cacheWrite: number,
  output: number,
  media?: MediaPrices | null,
  fees?: ToolFees,
];

/** The catalog passes the same object for all calls of a model, until its prices change. */
const texts = new WeakMap<TokenPrices, string>();

export function pricesText(prices: TokenPrices | null): string | null {
  if (prices === null) return null;
  let text = texts.get(prices);
  if (text === undefined) {
    const { input, cachedInput, cacheWrite, output, media, fees } = prices;
    const row: PricesRow = [input, cachedInput, cacheWrite, output];
    if (media || fees) row.push(media ?? null);
    if (fees) row.push(fees);
    text = JSON.stringify(row);
    texts.set(prices, text);
  }
  return text;
}

export function readPrices(text: string | null): TokenPrices | null {
  if (text === null) return null;
  const [input, cachedInput, cacheWrite, output, media, fees] = JSON.parse(text) as PricesRow;
  return { input, cachedInput, cacheWrite, output, ...(media && { media }), ...(fees && { fees }) };
}
