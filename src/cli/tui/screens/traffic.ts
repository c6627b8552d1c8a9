import { ownValue } from '../../../shared/own-value.ts';
import { ReceivedError } from '../../../shared/received-error.ts';
import { getTrace } from '../../addresses.ts';
import { traceRecord } from '../../commands/traces/columns.ts';
import { waterfall } from '../../commands/traces/waterfall.ts';
import { briefCount, briefDollars, count, dollars } from '../../output/amount.ts';
import type { Style } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { clockTime, duration } from '../../output/time.ts';
import { widthOf } from '../../output/width.ts';
import type { CallRow } from '../live/call-store.ts';
import type { Drawing, Page, Screen, ScreenColumn, Services } from '../screen.ts';
import { sparkline } from '../text/bar.ts';
import { recordLines, recordPage } from '../text/pages.ts';
import { askModel } from './ask-model.ts';

const styles: Readonly<Record<string, Style>> = {
  completed: 'green',
  running: 'cyan',
  incomplete: 'yellow',
  canceled: 'yellow',
  interrupted: 'yellow',
  failed: 'red',
};

interface Place {
  /** Where calls go now. */
  baseUrl: () => string;
  /** What keys are called, by their ids. */
  keyNames: ReadonlyMap<string, string>;
}

/** The requests of the workspace, newest first, as they happen. */
export const trafficScreen = ({ baseUrl, keyNames }: Place): Screen<CallRow> => ({
  id: 'traffic',
  title: 'Traffic',
  letter: 't',
  aliases: ['requests', 'calls', 'live'],
  get empty() {
    return [
      'No requests yet.',
      'Press c to ask a model something, or ask from elsewhere:',
      '  gateway respond "What is a mutex?"',
      `  base URL of an SDK   ${baseUrl()}/v1`,
      '  and its key          gateway keys default',
    ];
  },
  footer: ['open', 'compose', 'pause', 'filter', 'copy'],
  columns: () => [
    ...columns,
    { title: 'key', width: 14, spare: 6, text: ({ key }) => keyText(key, keyNames) },
  ],
  live: ({ calls }) => calls.rows(),
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway traces ${id}`,
  json: (row) => row,
  summary,
  aside: (row, drawing) => recordLines({ ...row, key: keyText(row.key, keyNames) }, asideColumns, drawing),
  open,
  compose: {
    label: 'ask',
    hint: 'anything, of the default model',
    run: (text, services) => askModel({ text }, services),
  },
});

const columns: ScreenColumn<CallRow>[] = [
  { title: 'time', width: 8, text: ({ at }) => clockTime(new Date(at).toISOString()) },
  {
    title: 'status',
    width: 15,
    text: ({ status, errorCode }) => errorCode ?? status,
    style: ({ status }) => ownValue(styles, status),
  },
  { title: 'model', width: 16, grows: true, text: modelText },
  { title: 'provider', width: 11, spare: 4, text: ({ provider }) => provider ?? '–' },
  { title: 'tokens', width: 13, align: 'right', spare: 3, text: tokens },
  { title: 'cost', width: 9, align: 'right', spare: 2, text: costText },
  {
    title: 'first',
    width: 7,
    align: 'right',
    spare: 5,
    text: ({ ttftMs }) => (ttftMs === null ? '–' : duration(ttftMs)),
  },
  {
    title: 'total',
    width: 7,
    align: 'right',
    spare: 1,
    text: ({ totalMs, at }, { now }) => duration(totalMs ?? Math.max(0, now - at)),
  },
];

const asideColumns: Column<CallRow>[] = [
  { title: 'request', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status, style: ({ status }) => ownValue(styles, status) },
  { title: 'error', value: ({ errorCode }) => errorCode },
  { title: 'model', value: ({ model }) => model },
  { title: 'provider', value: ({ provider }) => provider },
  { title: 'endpoint', value: ({ endpoint }) => endpoint },
  { title: 'key', value: ({ key }) => key ?? 'login' },
  { title: 'input', value: ({ inputTokens }) => count(inputTokens) },
  { title: 'output', value: ({ outputTokens }) => count(outputTokens) },
  { title: 'cost', value: ({ status, costUsd }) => (status === 'running' ? '' : dollars(costUsd)) },
  { title: 'first', value: ({ ttftMs }) => (ttftMs === null ? null : duration(ttftMs)) },
  { title: 'total', value: ({ totalMs }) => (totalMs === null ? null : duration(totalMs)) },
];

/** Where there is no room for all of its name, without who makes it. */
function modelText({ model }: CallRow, { width }: Drawing): string {
  let shown = model;
  while (widthOf(shown) > width && shown.includes('/')) shown = shown.slice(shown.indexOf('/') + 1);
  return shown || '–';
}

/** A key by its name where that is known; a login has none. */
function keyText(key: string | null, names: ReadonlyMap<string, string>): string {
  return key === null ? 'login' : (names.get(key) ?? key);
}

/** `10 → 1,234`: what went in, what came out. */
function tokens({ status, inputTokens, outputTokens }: CallRow): string {
  return status === 'running' ? '' : `${briefCount(inputTokens)} → ${briefCount(outputTokens)}`;
}

function costText({ status, costUsd }: CallRow): string {
  return status === 'running' ? '' : briefDollars(costUsd);
}

const bucketsInMinute = 12;
const bucketsShown = 5 * bucketsInMinute;

/** The last five minutes in columns of five seconds, and what they came to. */
function summary(_rows: CallRow[], { calls, now }: Services, { paint, isPlain, width }: Drawing): string[] {
  const room = Math.min(bucketsShown, Math.max(bucketsInMinute, width - 52));
  const minutes = Math.floor(room / bucketsInMinute);
  const { finished, failed } = calls.rhythm(now(), minutes * bucketsInMinute);
  const sum = finished.reduce((total, one) => total + one, 0);
  const told = [
    `${count(sum)} in ${minutes} min`,
    failed > 0 ? paint('red', `${count(failed)} failed`) : 'none failed',
    `${count(calls.running())} running`,
  ].join(' · ');
  return isPlain ? [told] : [`${paint('cyan', sparkline(finished))}  ${told}`];
}

/** The trace of a request; of one that runs, what is known of it. */
async function open(row: CallRow, { client, now }: Services): Promise<Page> {
  try {
    const trace = await client.call(getTrace, { params: { request_id: row.id } });
    return recordPage(row.id, trace, {
      columns: traceRecord(now()),
      more: ({ width, isPlain }) => (isPlain ? [] : waterfall(trace, width).trimEnd().split('\n')),
      copy: row.id,
    });
  } catch (error) {
    if (row.status !== 'running' || !(error instanceof ReceivedError) || error.code !== 'not_found')
      throw error;
    return recordPage(row.id, row, { columns: asideColumns, copy: row.id });
  }
}
