import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { type CallRow, isEndOfRequest } from '../../../view/call-row.ts';
import { duration } from '../../../view/durations.ts';
import { briefDollars, dollars } from '../../../view/money.ts';
import { briefCount, count } from '../../../view/numbers.ts';
import { clockTime, shortDay } from '../../../view/times.ts';
import { cancelCall, getTrace } from '../../endpoints.ts';
import { callerText, type KeyNames } from '../../names/key-names.ts';
import type { Style } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { findCalls, isCallQuery } from '../services/find-calls.ts';
import type { Services } from '../services/services.ts';
import { sparkline } from '../text/charts.ts';
import type { ListColumn } from '../text/list-table.ts';
import type { RenderOptions } from '../text/render-options.ts';
import { shortName } from '../text/short-name.ts';
import { askModel } from './ask-model.ts';
import { callPage } from './call/call-page.ts';
import { diffPage } from './call/diff-page.ts';
import { recordLines } from './pages.ts';
import type { Page, Screen } from './screen.ts';

const styles: Readonly<Record<string, Style>> = {
  completed: 'green',
  running: 'cyan',
  incomplete: 'yellow',
  canceled: 'yellow',
  interrupted: 'yellow',
  failed: 'red',
  rejected: 'red',
};

interface TrafficOptions {
  baseUrl: () => string;
  keyNames: KeyNames;
}

/** The requests of the workspace, live, newest first. */
export const trafficScreen = ({ baseUrl, keyNames }: TrafficOptions): Screen<CallRow> => ({
  id: 'traffic',
  title: 'Traffic',
  letter: 't',
  aliases: ['requests', 'calls', 'live'],
  get empty() {
    return [
      'No requests yet.',
      'Press c to ask a model, or send a request from elsewhere:',
      '  gateway respond "What is a mutex?"',
      `  SDK base URL   ${baseUrl()}/v1`,
      '  SDK API key    gateway keys default',
    ];
  },
  footer: ['open', 'compose', 'pause', 'remove', 'filter', 'copy'],
  columns: () => [
    ...columns,
    { title: 'key', width: 11, spare: 1, text: (row) => callerText(row, keyNames) },
  ],
  live: ({ calls }) => calls.rows(),
  find: { isQuery: isCallQuery, run: findCalls },
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway traces show ${id}`,
  json: (row) => row,
  summary,
  preview: (row, options) => callLines(row, keyNames, options),
  open: (row, services) => openCall(row, { baseUrl, keyNames }, services),
  compare: (rows, services) =>
    diffPage(
      rows.map(({ id }) => id),
      services,
    ),
  remove: {
    isPossible: ({ status }) => status === 'running',
    question: (rows) =>
      rows.length === 1
        ? `End the running request to ${rows[0]?.model || rows[0]?.endpoint}?`
        : `End ${rows.length} running requests?`,
    verb: 'End',
    run: cancelCalls,
  },
  compose: {
    label: 'ask',
    placeholder: 'a question for the default model',
    run: (text, services) => askModel({ text }, services),
  },
});

async function cancelCalls(rows: readonly CallRow[], { client }: Services): Promise<string> {
  let canceled = 0;
  for (const { id } of rows) {
    const answer = await client.call(cancelCall, { params: { request_id: id } });
    if (answer.canceled) canceled += 1;
  }
  if (canceled === 0) return 'None was running.';
  return canceled === 1 ? 'Ended one request.' : `Ended ${canceled} requests.`;
}

const columns: ListColumn<CallRow>[] = [
  { title: 'time', width: 8, value: ({ at }) => at, text: timeText },
  {
    title: 'status',
    width: 15,
    text: ({ status, errorCode }) => errorCode ?? status,
    style: ({ status }) => ownValue(styles, status),
  },
  { title: 'model', width: 18, grows: true, text: modelText },
  { title: 'provider', width: 11, spare: 5, text: ({ provider }) => provider ?? '–' },
  {
    title: 'tokens',
    width: 11,
    align: 'right',
    spare: 4,
    value: (row) => (hasNoAnswer(row) ? null : row.inputTokens + row.outputTokens),
    text: tokensText,
  },
  { title: 'cost', width: 9, align: 'right', spare: 3, value: ({ costUsd }) => costUsd, text: costText },
  {
    title: 'first',
    width: 7,
    align: 'right',
    spare: 6,
    value: ({ ttftMs }) => ttftMs,
    text: ({ ttftMs }) => duration(ttftMs),
  },
  {
    title: 'total',
    width: 7,
    align: 'right',
    spare: 2,
    value: ({ totalMs }) => totalMs,
    text: (row, { now }) => totalText(row, now),
  },
];

function modelText(row: CallRow, { width }: RenderOptions): string {
  // A rejected request may have named none.
  return shortName(row.model || row.endpoint || '–', width);
}

/** The time of day, or of an earlier day its date: queries find calls of any age. */
function timeText({ at }: CallRow, { now }: RenderOptions): string {
  return shortDay(at, now) ?? clockTime(at);
}

/** Whether tokens and cost would mean nothing: a running request has none before its first progress. */
function hasNoAnswer({ status, ttftMs }: CallRow): boolean {
  return (status === 'running' && ttftMs === null) || status === 'rejected';
}

/** Input and output: `10→1,234`. */
function tokensText(row: CallRow): string {
  return hasNoAnswer(row) ? '' : `${briefCount(row.inputTokens)}→${briefCount(row.outputTokens)}`;
}

/** The cost, or how many requests like it were rejected: this column is still there on 80 columns. */
function costText(row: CallRow): string {
  if (row.more > 0) return row.more < 1000 ? `+${row.more} more` : `+${briefCount(row.more)}`;
  return hasNoAnswer(row) ? '' : briefDollars(row.costUsd);
}

/** A running request counts up. */
function totalText({ status, at, totalMs }: CallRow, now: number): string {
  if (totalMs !== null) return duration(totalMs);
  return status === 'running' ? duration(Math.max(0, now - at)) : '–';
}

const bucketsInMinute = 12;
const bucketsShown = 5 * bucketsInMinute;

/** A sparkline of the last minutes with a column per five seconds, and their totals. */
function summary(
  _rows: CallRow[],
  { calls, now }: Services,
  { paint, isPlain, width }: RenderOptions,
): string[] {
  const room = Math.min(bucketsShown, Math.max(bucketsInMinute, width - 52));
  const minutes = Math.floor(room / bucketsInMinute);
  const { finished, failed, isPartial } = calls.histogram(now(), minutes * bucketsInMinute);
  const sum = finished.reduce((total, one) => total + one, 0);
  const totals = [
    `${count(sum)}${isPartial ? '+' : ''} in ${minutes} min`,
    failed > 0 ? paint('red', `${count(failed)} failed`) : 'none failed',
    `${count(calls.running())} running`,
  ].join(' · ');
  return isPlain ? [totals] : [`${paint('cyan', sparkline(finished))}  ${totals}`];
}

/** What the list knows about a request. */
function callLines(row: CallRow, keyNames: KeyNames, options: RenderOptions): string[] {
  const isWithoutAnswer = hasNoAnswer(row);
  const record: Column<CallRow>[] = [
    { title: 'request', value: ({ id }) => id },
    { title: 'status', value: ({ status }) => status, style: ({ status }) => ownValue(styles, status) },
    { title: 'error', value: ({ errorCode }) => errorCode },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'more like it', value: ({ more }) => (more > 0 ? count(more) : null) },
    { title: 'model', value: ({ model }) => model },
    { title: 'provider', value: ({ provider }) => provider },
    { title: 'endpoint', value: ({ endpoint }) => endpoint },
    { title: 'key', value: (call) => callerText(call, keyNames) },
    { title: 'input', value: ({ inputTokens }) => (isWithoutAnswer ? null : count(inputTokens)) },
    { title: 'output', value: ({ outputTokens }) => (isWithoutAnswer ? null : count(outputTokens)) },
    { title: 'cost', value: ({ costUsd }) => (isWithoutAnswer ? null : dollars(costUsd)) },
    { title: 'first', value: ({ ttftMs }) => (ttftMs === null ? null : duration(ttftMs)) },
    { title: 'total', value: (call) => totalText(call, options.now) },
  ];
  return recordLines(row, record, options);
}

/** Everything about a request. A running one has no trace yet: the page shows its row until its last event. */
async function openCall(row: CallRow, options: TrafficOptions, services: Services): Promise<Page> {
  const { client, calls } = services;
  const { keyNames, baseUrl } = options;
  try {
    const trace = await client.call(getTrace, { params: { request_id: row.id } });
    return callPage({ trace, keyNames, services, baseUrl });
  } catch (error) {
    const isMissing = error instanceof ReceivedError && error.code === 'not_found';
    if (row.status !== 'running' || !isMissing) throw error;
    const current = () => calls.get(row.id) ?? row;
    return {
      title: row.id,
      lines: (shown) => callLines(current(), keyNames, shown),
      copy: row.id,
      isTicking: true,
      updates: {
        reload: () => openCall(row, options, services),
        isAffectedBy: ({ type, data }) => data.request_id === row.id && isEndOfRequest(type),
      },
    };
  }
}
