import { Command, Option } from '@commander-js/extra-typings';
import { capturedTexts } from '../../../shared/calls/captured-text.ts';
import { callEnds } from '../../../shared/constants/call-statuses.ts';
import type { Query } from '../../../shared/contract/endpoint.ts';
import type { listTraces as listTracesContract, TraceView } from '../../../shared/contract/traces.ts';
import { getTrace, listContentPreviews, listTraces } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { rowOfTrace } from '../../../view/call-row.ts';
import { hookText, stepNames, waitText } from '../../../view/call-steps.ts';
import { type CallContext, type CallField, callFields, toneOfCall } from '../../../view/calls.ts';
import { duration } from '../../../view/durations.ts';
import { type Field, fieldsOf, pick } from '../../../view/field.ts';
import { keyText } from '../../../view/key-names.ts';
import { dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import { contentOfCall, contentPassages } from '../../content/call-content.ts';
import { formatPassages } from '../../content/conversation-text.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { collectPages } from '../../hosts/pages.ts';
import { keyNamesFor } from '../../names/key-names.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { csvOption, delimiterOption, example, wholeNumber } from '../../options.ts';
import { listColumn, recordColumn, styleOf } from '../../output/field-columns.ts';
import type { Column } from '../../output/table.ts';
import { pastTimeHelp, pastTimeInZone, zoneOption } from '../../times.ts';
import { showComposition } from './composition.ts';
import { codeForms, showCode, showTiming, showWire } from './content.ts';
import { showCost } from './cost.ts';
import { selectionIn } from './query-in.ts';
import { waterfall } from './waterfall.ts';

export const listTracesCommand = (context: Context) =>
  new Command('list')
    .argument(
      '[query...]',
      'filters such as status:failed model:openai/* -client:curl >4s >$0.05 since:2h "text"',
    )
    .addOption(new Option('--status <status>', 'only calls with this status').choices(callEnds))
    .option('--model <model>', 'only calls of this model')
    .option('--provider <provider>', 'only calls that this provider answered, or at which they failed')
    .option('--key <key>', 'only calls of this key, by id or name')
    .option('--since <time>', `only calls that finished since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option(
      '--until <time>',
      'only calls that finished before this time or through this day',
      pastTimeInZone(context),
    )
    .option(...zoneOption)
    .addOption(
      new Option('--sort <by>', 'newest, longest or dearest first')
        .choices(traceSortings)
        .default('time' as const),
    )
    .option('--limit <count>', 'maximum number to list', wholeNumber({ min: 1 }), 20)
    .option('--preview', 'also print the last question and the beginning of the answer, if they are kept')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example("gateway calls list 'status:failed client:claude-cli >4s since:2h'"))
    .action((words, { limit, sort, status, model, provider, key, preview = false, ...times }) => {
      const given = definedOf({ status, model, provider, key });
      return showTraces(context, {
        limit,
        hasPreview: preview,
        filter: { ...selectionIn(words, times, context), ...(sort !== 'time' && { sort }), ...given },
      });
    });

export const showTraceCommand = (context: Context) =>
  new Command('show')
    .argument('<call>', 'the id of a call: req_…')
    .option('--body', 'print the prompt and the answer instead, if they are kept')
    .option('--cost', 'print what it cost by kind of token, and where the prompt cache ended')
    .option('--context', 'print what fills its context: tools, instructions and messages, by tokens')
    .option('--wire', 'print what was received and sent, and the answers of providers, without credentials')
    .option('--timing', 'play its stream as it came; in a pipe, print when each piece came')
    .addOption(new Option('--as <form>', 'print a command or a program that repeats it').choices(codeForms))
    .addHelpText('after', example('gateway calls show req_01jd… --body'))
    .action(async (request, { body, cost: isCost, context: isContext, wire, timing, as }) => {
      if ([body, isCost, isContext, wire, timing, as].filter(Boolean).length > 1)
        throw new CliError('Use one of --body, --cost, --context, --wire, --timing and --as.', {
          exit: exitCodes.usage,
        });
      if (body) return await showBody(context, request);
      if (isCost) return await showCost(context, request);
      if (isContext) return await showComposition(context, request);
      if (wire) return await showWire(context, request);
      if (timing) return await showTiming(context, request);
      if (as) return await showCode(context, request, as);
      return await showTrace(context, request);
    });

const traceSortings = ['time', 'total_ms', 'cost'] as const;

type Filter = Omit<Query<typeof listTracesContract>, 'limit' | 'after'>;

/** The options that were given. */
function definedOf(options: Filter): Filter {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

async function showTraces(
  context: Context,
  { limit, filter, hasPreview }: { limit: number; filter: Filter; hasPreview: boolean },
): Promise<void> {
  const wanted = await resolveFilter(context, filter);
  const traces = await collectPages(limit, (page) =>
    context.client().call(listTraces, { query: { ...wanted, ...page } }),
  );
  const shown = { now: context.now(), keyNames: await keyNamesFor(context) };
  const rows = hasPreview ? await withPreviews(context, traces) : traces;
  const columns = [...traceColumns(shown), ...(hasPreview ? previewColumns : [])];
  await context.out.table(rows, context.flags.csv ? [...columns, ...csvColumns(shown)] : columns, {
    empty: 'No finished calls.',
  });
}

type Previewed = TraceView & { question?: string | null; answer?: string | null };

const previewColumns: Column<Previewed>[] = [
  { title: 'question', value: ({ question }) => question },
  { title: 'answer', value: ({ answer }) => answer },
];

const previewsMax = 100;

/** The calls with what was asked last and what was answered; null where no content is kept. */
async function withPreviews(context: Context, traces: readonly TraceView[]): Promise<Previewed[]> {
  const client = context.client();
  const rows: Previewed[] = [];
  for (let at = 0; at < traces.length; at += previewsMax) {
    const page = traces.slice(at, at + previewsMax);
    const requests = page.map(({ request_id: id }) => id).join(',');
    const { data } = await client.call(listContentPreviews, { query: { requests } });
    const byId = new Map(data.map((preview) => [preview.request_id, preview]));
    rows.push(
      ...page.map((trace) => ({ ...trace, question: null, answer: null, ...byId.get(trace.request_id) })),
    );
  }
  return rows;
}

/** Prints a trace; on a terminal with a timeline. */
async function showTrace(context: Context, request: string): Promise<void> {
  const trace = await context.client().call(getTrace, { params: { request_id: request } });
  const { out, io } = context;
  const replays = out.wantsJson() ? [] : await replaysOf(context, trace);
  const record = traceRecord(trace, { now: context.now(), keyNames: await keyNamesFor(context) });
  const columns = replays.length === 0 ? record : [...record, repeatedBy(replays)];
  await out.record(trace, columns);
  if (!io.stdout.isTty || out.wantsJson() || out.isQuiet()) return;
  out.text(`\n${waterfall(trace, io.columns())}`);
}

const replaysMax = 20;

/** The newest calls that repeat a request. */
async function replaysOf(context: Context, { request_id: request }: TraceView): Promise<TraceView[]> {
  const query = { replay_of: request, fields: 'brief', limit: replaysMax } as const;
  // An earlier version knows no replays.
  const found = await context
    .client()
    .call(listTraces, { query })
    .catch(() => undefined);
  return found?.data ?? [];
}

const repeatedBy = (replays: readonly TraceView[]): Column<TraceView> => ({
  title: 'replays',
  value: () => replays.map(({ request_id: id, model: used }) => `${id} ${used ?? ''}`.trim()).join(', '),
});

/** Prints what was asked and answered; with `--json` as it is stored. */
async function showBody(context: Context, request: string): Promise<void> {
  const { out } = context;
  const client = context.client();
  const trace = await client.call(getTrace, { params: { request_id: request } });
  const content = await contentOfCall(client, trace);
  if (out.wantsJson()) return out.document({ request_id: request, ...content });
  if (content.source === null) throw new CliError(content.reason, { exit: exitCodes.failed });
  context.io.stdout.write(formatPassages(contentPassages(content), out.paint.stdout));
}

const ofTraces = fieldsOf(callFields, rowOfTrace);

/** The columns of tables in pipes, the least useful ones last; further ones follow them. */
const listed = [
  ...['request_id', 'completed_at', 'status', 'model', 'key', 'total_ms', 'cost_usd', 'provider'],
  ...['first_token_ms', 'attempts', 'client', 'endpoint', 'address'],
];
/** What a spreadsheet adds up, or cannot look up. */
const inCsv = [
  ...['input', 'cached_input', 'cache_write', 'output', 'reasoning', 'key_name', 'user', 'conversation'],
  'tags',
];
const alwaysShown = 5;

function namedFields(names: readonly string[], fields: readonly CallField[]): string[] {
  const further = fields.map(({ name }) => name).filter((name) => ![...listed, ...inCsv].includes(name));
  return [...names, ...further];
}

/** Finished requests in a list. */
function traceColumns(context: CallContext): Column<TraceView>[] {
  const ended = callFields.filter(({ lists }) => lists === 'ended' || lists === 'both');
  return pick(ofTraces, namedFields(listed, ended)).map((field, at) => ({
    ...listColumn(field, context),
    ...(at >= alwaysShown && { isSpare: true }),
  }));
}

function csvColumns(context: CallContext): Column<TraceView>[] {
  const keyName: Field<TraceView, CallContext> = {
    name: 'key_name',
    value: ({ key: id }) => keyText(id, context.keyNames),
  };
  const shown = new Set(traceColumns(context).map(({ title }) => title));
  const names = namedFields(inCsv, callFields).filter((name) => !shown.has(name) && !liveOnly.has(name));
  return pick([...ofTraces, keyName], names).map((field) => listColumn(field, context));
}

const liveOnly = new Set(callFields.filter(({ lists }) => lists === 'live').map(({ name }) => name));

/** One finished request, or a rejected one, which has no answer to describe. */
export function traceRecord(trace: TraceView, context: CallContext): Column<TraceView>[] {
  const isRejected = trace.rejection !== null;
  const fields = (...names: string[]) => pick(ofTraces, names).map((field) => recordColumn(field, context));
  const unlessNone = (column: Column<TraceView>) => column.value(trace) != null;
  return [
    { title: 'request_id', value: ({ request_id }) => request_id },
    ...(isRejected ? [] : [responseId]),
    { title: 'status', value: ({ status }) => status, style: (one) => styleOf(toneOfCall(one)) },
    ...(trace.error_code === null ? [] : [errorCode]),
    ...rejectionRecord.filter((column) => isRejected && unlessNone(column)),
    ...(isRejected ? [] : [finishReason]),
    ...(isRejected || (trace.http_status ?? 200) === 200 ? [] : [httpStatus]),
    ...(failuresOf(trace) === '' ? [] : [failures]),
    ...fields('endpoint', 'model'),
    ...(isRejected ? [] : fields('provider')),
    ...fields('key'),
    ...[...fields('client', 'user', 'conversation', 'tags'), replayOf].filter(unlessNone),
    // Daemons of earlier versions do not say it.
    ...(trace.captured ? [captured] : []),
    ...(isRejected
      ? fields('total_ms')
      : [
          ...fields('input', 'output', 'cost_usd'),
          charged,
          ...fields('first_token_ms', 'total_ms'),
          ...answerRecord,
        ]),
    ...fields('completed_at'),
  ];
}

const replayOf: Column<TraceView> = { title: 'replay_of', value: (trace) => trace.replay_of };
const charged: Column<TraceView> = {
  title: 'charged_usd',
  value: (trace) => trace.charged_usd,
  show: (trace) => dollars(trace.charged_usd),
};

/** What is kept of its content. */
const captured: Column<TraceView> = {
  title: 'captured',
  label: 'content',
  value: ({ captured: kept }) => kept && [kept.state, ...kept.parts].join(' '),
  show: ({ captured: kept }) => capturedText(kept),
};

function capturedText(kept: TraceView['captured']): string {
  if (kept === null) return '–';
  const { state, parts } = kept;
  return parts.length === 0 ? capturedTexts[state] : `${capturedTexts[state]}: ${parts.join(', ')}`;
}

const responseId: Column<TraceView> = { title: 'response_id', value: (trace) => trace.response_id };
const errorCode: Column<TraceView> = { title: 'error_code', value: (trace) => trace.error_code };
const finishReason: Column<TraceView> = { title: 'finish_reason', value: (trace) => trace.finish_reason };

const httpStatus: Column<TraceView> = {
  title: 'http_status',
  label: 'HTTP status',
  value: (trace) => trace.http_status,
};

/** Why attempts failed, in the words of the providers. */
const failures: Column<TraceView> = { title: 'failure', value: failuresOf };

function failuresOf({ attempts }: TraceView): string {
  // Older daemons do not report messages.
  const said = attempts.flatMap(({ provider: tried, message }) => (message ? [`${tried}: ${message}`] : []));
  return said.join(' · ');
}

/** Why a request was rejected. */
const rejectionRecord: Column<TraceView>[] = [
  { title: 'reason', value: ({ rejection }) => rejection?.message },
  { title: 'param', value: ({ rejection }) => rejection?.param },
  { title: 'http_status', label: 'HTTP status', value: ({ rejection }) => rejection?.http_status },
  {
    title: 'more',
    label: 'more like it',
    value: ({ rejection }) => rejection?.more || null,
    show: ({ rejection }) => count(rejection?.more ?? 0),
  },
  { title: 'address', value: ({ rejection }) => rejection?.address },
];

/** How the answer came about. */
const answerRecord: Column<TraceView>[] = [
  {
    title: 'settled_ms',
    label: stepNames.settled,
    value: (trace) => trace.timings.settled_ms,
    show: ({ timings: { settled_ms: ms } }) => duration(ms),
  },
  { title: 'cache', value: (trace) => trace.cache },
  {
    title: 'attempts',
    value: ({ attempts }) =>
      attempts
        .map(({ provider: tried, key, status, error_code: code }) =>
          [tried, ...(key === undefined ? [] : [`(${key})`]), code ?? status].join(' '),
        )
        .join(', ') || null,
  },
  {
    title: 'routes',
    value: ({ routes }) => routes?.map((route) => `${route.model} via ${route.provider}`).join(', '),
  },
  {
    title: 'dropped',
    value: ({ dropped }) =>
      dropped.map(({ param, type }) => (type === undefined ? param : `${param} (${type})`)).join(', ') ||
      null,
  },
  { title: 'hooks', value: ({ hooks }) => hooks?.map(hookText).join('; ') || null },
  { title: 'waits', value: ({ waits }) => waits?.map(waitText).join('; ') || null },
];
