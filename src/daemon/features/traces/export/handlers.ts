import type { TraceView } from '../../../../shared/contract/traces.ts';
import {
  type ExportContent,
  type ExportFormat,
  exportContentTypes,
  exportTraces,
} from '../../../../shared/contract/traces-export.ts';
import { ApiError } from '../../../../shared/errors.ts';
import { inputFault } from '../../../../shared/faults/input-faults.ts';
import { notFound } from '../../../../shared/faults/not-found.ts';
import type { CsvDelimiter } from '../../../../shared/text/csv.ts';
import { type Handler, implement, type KeyOrLogin, keyOrLogin, StreamReply } from '../../../base/handler.ts';
import type { World } from '../../../base/world.ts';
import type { UsageRecord } from '../../metering/index.ts';
import type { TraceViews } from '../handlers.ts';
import type { CallSelection } from '../selection.ts';
import type { Rejection } from '../store.ts';
import { csvWriter } from './csv.ts';
import type { ExportedContent, ExportWriter } from './exported-call.ts';
import { harWriter } from './har.ts';
import { jsonlWriter } from './jsonl.ts';

/** Rows of one read. A page of a search takes up to 50 ms. */
const pageSize = 50;
const exportsMax = 4;
/** After each page the export rests for as long as it took, so that it takes no more than half of the reader. */
const restFactor = 1;
const restMsMax = 200;
/** Rows are sent together, as each write costs. */
const chunkCharacters = 64 * 1024;

export interface ExportDeps {
  views: TraceViews;
  content: { find(workspaceId: string, requestId: string): Promise<ExportedContent | undefined> };
  /** A call as spans, in the form that collectors take. */
  otlpLine: (record: UsageRecord | Rejection, content: ExportedContent | undefined) => string;
  world: Pick<World, 'elapsed' | 'sleep'>;
  version: string;
}

export function exportHandlers(deps: ExportDeps): Handler[] {
  let running = 0;
  return [
    implement(exportTraces, async ({ caller, query, signal, headers }) => {
      const reader = keyOrLogin(caller);
      const { format = 'jsonl', content = 'none', delimiter } = query;
      checkContent(reader, format, content);
      const { after } = query;
      const selection = deps.views.select(reader, query);
      if (after !== undefined && !(await deps.views.exists(reader, after))) throw notFound('request', after);
      if (running >= exportsMax)
        throw new ApiError('rate_limited', {
          message: `At most ${exportsMax} exports run at a time.`,
          retryAfterSeconds: 5,
        });
      const baseUrl = `http://${headers.host ?? 'localhost'}`;
      const writer = writerOf(deps, { format, content, delimiter, baseUrl });
      const reply = {
        'content-type': exportContentTypes[format],
        'content-disposition': `attachment; filename="traces.${format === 'otlp' ? 'otlp.jsonl' : format}"`,
        'cache-control': 'no-store, no-transform',
        'x-content-type-options': 'nosniff',
      };
      const rows = exported(deps, { reader, selection, after, content, writer, signal });
      return new StreamReply(
        reply,
        counted(rows, (change) => {
          running += change;
        }),
      );
    }),
  ];
}

function checkContent(reader: KeyOrLogin, format: ExportFormat, content: ExportContent): void {
  if (content === 'none') return;
  if (reader.kind === 'key' && !reader.scopes.has('content:read'))
    throw new ApiError('out_of_scope', {
      param: 'content',
      message: 'This key lacks the scope `content:read`.',
    });
  if (format === 'csv' && content === 'wire')
    throw inputFault('content', 'is `none` or `text` for CSV; the other formats have `wire`, too');
}

interface Writing {
  format: ExportFormat;
  content: ExportContent;
  delimiter: CsvDelimiter | undefined;
  baseUrl: string;
}

function writerOf(
  { otlpLine, version }: ExportDeps,
  { format, content, delimiter, baseUrl }: Writing,
): ExportWriter {
  if (format === 'csv') return csvWriter(content, delimiter);
  if (format === 'har') return harWriter({ content, baseUrl, version });
  if (format === 'jsonl') return jsonlWriter(content);
  return { head: '', call: ({ record, content: kept }) => `${otlpLine(record, kept)}\n`, tail: '' };
}

async function* counted(
  rows: AsyncIterable<string>,
  count: (change: 1 | -1) => void,
): AsyncGenerator<string, void> {
  count(1);
  try {
    yield* rows;
  } finally {
    count(-1);
  }
}

interface Export {
  reader: KeyOrLogin;
  selection: CallSelection;
  after: string | undefined;
  content: ExportContent;
  writer: ExportWriter;
  signal: AbortSignal;
}

/** All rows, page by page; the next page is read when the client has taken the one before. */
async function* exported(
  { views, content: contents, world }: ExportDeps,
  { reader, selection, after: first, content, writer, signal }: Export,
): AsyncGenerator<string, void> {
  let chunk = writer.head;
  let isFirst = true;
  let after = first;
  do {
    const startedAt = world.elapsed();
    const page = await views.page(reader, { selection, limit: pageSize, after });
    // An unknown cursor gives an empty page, which must not look like the end.
    if (page.records.length === 0 && after !== undefined && !(await views.exists(reader, after)))
      throw new ApiError('unavailable', { message: 'A request that was exported last has been removed.' });
    const shown = await views.viewsOf(reader, page.records);
    for (const [index, record] of page.records.entries()) {
      signal.throwIfAborted();
      const kept = content === 'none' ? undefined : await contents.find(reader.workspaceId, record.requestId);
      const view = shown[index] as TraceView;
      chunk += writer.call({ record, view, content: kept }, isFirst);
      isFirst = false;
      if (chunk.length < chunkCharacters) continue;
      yield chunk;
      chunk = '';
    }
    after = page.next;
    if (after !== undefined)
      await world.sleep(Math.min(restMsMax, (world.elapsed() - startedAt) * restFactor), signal);
  } while (after !== undefined);
  yield chunk + writer.tail;
}
