import type { TraceView } from '../../../shared/contract/traces.ts';
import { count, dollars } from '../../output/amount.ts';
import type { Style } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { ago, duration } from '../../output/time.ts';

const styles: Record<TraceView['status'], Style> = {
  completed: 'green',
  incomplete: 'yellow',
  canceled: 'yellow',
  failed: 'red',
  interrupted: 'red',
};

const status: Column<TraceView> = {
  title: 'status',
  value: (trace) => trace.error_code ?? trace.status,
  style: (trace) => styles[trace.status],
};
const model: Column<TraceView> = { title: 'model', value: (trace) => trace.model };
const provider: Column<TraceView> = {
  title: 'provider',
  value: (trace) => trace.provider,
  show: (trace) => trace.provider ?? '–',
};
const firstToken: Column<TraceView> = {
  title: 'first_token_ms',
  label: 'first token',
  value: (trace) => trace.timings.first_token_ms,
  show: ({ timings: { first_token_ms: ms } }) => (ms === null ? '–' : duration(ms)),
};
const total: Column<TraceView> = {
  title: 'total_ms',
  label: 'total',
  value: (trace) => trace.timings.total_ms,
  show: (trace) => duration(trace.timings.total_ms),
};
const cost: Column<TraceView> = {
  title: 'cost_usd',
  label: 'cost',
  value: (trace) => trace.cost?.total_usd,
  show: (trace) => dollars(trace.cost?.total_usd),
};

/** Finished requests in a list, seen from `now` (milliseconds). */
export const traceColumns = (now: number): Column<TraceView>[] => [
  { title: 'request_id', value: (trace) => trace.request_id },
  status,
  model,
  { ...provider, isSpare: true },
  {
    title: 'attempts',
    value: (trace) => trace.attempts.length,
    align: 'right',
    isSpare: true,
  },
  { ...firstToken, align: 'right', isSpare: true },
  { ...total, align: 'right' },
  { ...cost, align: 'right', isSpare: true },
  {
    title: 'completed_at',
    label: 'ended',
    value: (trace) => trace.completed_at,
    show: (trace) => ago(trace.completed_at, now),
    isSpare: true,
  },
];

/** One finished request. */
export const traceRecord = (now: number): Column<TraceView>[] => [
  { title: 'request_id', value: (trace) => trace.request_id },
  { title: 'response_id', value: (trace) => trace.response_id },
  { ...status, value: (trace) => trace.status },
  { title: 'error_code', value: (trace) => trace.error_code },
  { title: 'finish_reason', value: (trace) => trace.finish_reason },
  { title: 'endpoint', value: (trace) => trace.endpoint },
  model,
  provider,
  { title: 'key', value: (trace) => trace.key, show: (trace) => trace.key ?? 'login' },
  { title: 'input', value: ({ tokens }) => tokens.input, show: ({ tokens }) => count(tokens.input) },
  { title: 'output', value: ({ tokens }) => tokens.output, show: ({ tokens }) => count(tokens.output) },
  cost,
  { title: 'charged_usd', value: (trace) => trace.charged_usd, show: (trace) => dollars(trace.charged_usd) },
  firstToken,
  total,
  {
    title: 'settled_ms',
    label: 'settled',
    value: (trace) => trace.timings.settled_ms,
    show: ({ timings: { settled_ms: ms } }) => (ms === null ? '–' : duration(ms)),
  },
  {
    title: 'attempts',
    value: ({ attempts }) =>
      attempts
        .map(({ provider: asked, status: told, error_code: code }) => `${asked} ${code ?? told}`)
        .join(', '),
  },
  {
    title: 'routes',
    value: ({ routes }) => routes?.map((route) => `${route.provider}/${route.model}`).join(', '),
  },
  {
    title: 'completed_at',
    value: (trace) => trace.completed_at,
    show: (trace) => ago(trace.completed_at, now),
  },
];
