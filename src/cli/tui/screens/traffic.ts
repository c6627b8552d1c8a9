import { cancelCall, getTrace } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { type CallRow, isEndOfRequest } from '../../../view/call-row.ts';
import { callFields, toneOfCall } from '../../../view/calls.ts';
import { span } from '../../../view/durations.ts';
import { exactOf, pick } from '../../../view/field.ts';
import type { KeyNames } from '../../../view/key-names.ts';
import { count } from '../../../view/numbers.ts';
import { recordColumn, styleOf } from '../../output/field-columns.ts';
import type { Column } from '../../output/table.ts';
import { findCalls, isCallQuery } from '../services/find-calls.ts';
import type { Services } from '../services/services.ts';
import { sparkline } from '../text/charts.ts';
import { fieldColumn, type ListColumn } from '../text/list-table.ts';
import type { RenderOptions } from '../text/render-options.ts';
import { shortName } from '../text/short-name.ts';
import { askModel } from './ask-model.ts';
import { callPage } from './call/call-page.ts';
import { diffPage } from './call/diff-page.ts';
import { recordLines } from './pages.ts';
import type { Page, Screen } from './screen.ts';

interface TrafficOptions {
  baseUrl: () => string;
  keyNames: KeyNames;
}

/** The calls of the workspace, live, newest first. */
export const trafficScreen = ({ baseUrl, keyNames }: TrafficOptions): Screen<CallRow> => ({
  id: 'traffic',
  title: 'Calls',
  letter: 't',
  aliases: ['traffic', 'requests', 'traces', 'live'],
  get empty() {
    return [
      'No calls yet.',
      'Press c to ask a model, or make a call from elsewhere:',
      '  gateway respond "What is a mutex?"',
      `  SDK base URL   ${baseUrl()}/v1`,
      '  SDK API key    gateway keys default',
    ];
  },
  footer: ['open', 'compose', 'pause', 'remove', 'filter', 'copy'],
  columns: () => columnsOf(keyNames),
  live: ({ calls }) => calls.rows(),
  find: { isQuery: isCallQuery, run: findCalls },
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway calls show ${id}`,
  json: ({ trace: _trace, ...row }) => row,
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
        ? `End the running call to ${rows[0]?.model || rows[0]?.endpoint}?`
        : `End ${rows.length} running calls?`,
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
  return canceled === 1 ? 'Ended one call.' : `Ended ${canceled} calls.`;
}

const liveFields = callFields.filter(({ lists }) => lists === 'live' || lists === 'both');

const columnsOf = (keyNames: KeyNames): ListColumn<CallRow>[] =>
  liveFields.map((field) => {
    const column = fieldColumn(field, ({ now }) => ({ now, keyNames }));
    if (field.name !== 'model') return column;
    return {
      ...column,
      grows: true,
      text: (row, options) => shortName(column.text(row, options), options.width),
    };
  });

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
    `${count(sum)}${isPartial ? '+' : ''} in ${span(minutes * 60_000)}`,
    failed > 0 ? paint('red', `${count(failed)} failed`) : 'none failed',
    `${count(calls.running())} running`,
  ].join(' · ');
  return isPlain ? [totals] : [`${paint('cyan', sparkline(finished))}  ${totals}`];
}

/** What the list knows about a request. */
function callLines(row: CallRow, keyNames: KeyNames, options: RenderOptions): string[] {
  const context = { now: options.now, keyNames };
  const record: Column<CallRow>[] = [
    { title: 'call', value: ({ id }) => id },
    { title: 'status', value: ({ status }) => status, style: (call) => styleOf(toneOfCall(call)) },
    { title: 'error', value: ({ errorCode }) => errorCode },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'more like it', value: ({ more }) => (more > 0 ? count(more) : null) },
    { title: 'endpoint', value: ({ endpoint }) => endpoint },
    ...pick(liveFields, recordNames)
      .filter((field) => exactOf(field, row, context) !== '–')
      .map((field) => recordColumn(field, context)),
  ];
  return recordLines(row, record, options);
}

const recordNames = ['model', 'provider', 'key', 'tokens', 'cost_usd', 'first_token_ms', 'total_ms'];

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
