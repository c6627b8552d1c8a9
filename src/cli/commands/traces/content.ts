import type { ContentText, TraceContent } from '../../../shared/contract/content.ts';
import type { Context } from '../../context.ts';
import { getTraceContent } from '../../endpoints.ts';
import { count } from '../../output/amount.ts';
import { escapeJson } from '../../output/escape-controls.ts';
import { sizeText } from '../../output/progress.ts';
import type { Column } from '../../output/table.ts';
import { duration } from '../../output/time.ts';

type Read = NonNullable<TraceContent['reads']>[number];
type Headers = { name: string; value: string }[];

const contentOf = async (context: Context, request: string): Promise<TraceContent> =>
  await context.client().call(getTraceContent, { params: { request_id: request }, query: {} });

/** Prints what was received, what was sent to each provider, and what came back. */
export async function showWire(context: Context, request: string): Promise<void> {
  const { out } = context;
  const content = await contentOf(context, request);
  if (out.wantsJson()) return out.document(content);
  const { request: asked, attempts, answer } = content;
  const parts = [
    part(`request to ${content.endpoint}`, asked?.headers, asked?.body),
    ...(attempts ?? []).flatMap(({ provider, url, status, ...attempt }, index) => [
      part(`attempt ${index + 1}: ${provider}, ${url}`, attempt.headers, attempt.body),
      part(`answer of ${provider}: ${status ?? 'none'}`, attempt.response_headers, attempt.response_body),
    ]),
    part(answer?.streamed ? 'answer, put together' : 'answer', [], answer?.body),
  ];
  out.text(parts.join('\n'));
}

function part(title: string, headers: Headers = [], body: ContentText | null | undefined): string {
  const lines = [
    `── ${title}`,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
    ...(body ? ['', readable(body.text), ...missing(body)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** What a page does not have; all of it is in the API's answers. */
function missing({ text, next, bytes, is_partial: isPartial }: ContentText): string[] {
  return [
    ...(next === null ? [] : [`… the first ${sizeText(Buffer.byteLength(text))} of ${sizeText(bytes)}`]),
    ...(isPartial ? ['… parts were deleted'] : []),
  ];
}

/** JSON with line breaks; other text as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Prints when each piece of a stream came. */
export async function showTiming(context: Context, request: string): Promise<void> {
  const { reads } = await contentOf(context, request);
  const rows = (reads ?? []).map((read, at) => ({ ...read, after_ms: read.ms - (reads?.[at - 1]?.ms ?? 0) }));
  await context.out.table(rows, timingColumns, { empty: 'This was no stream, or its timing is not kept.' });
}

const timingColumns: Column<Read & { after_ms: number }>[] = [
  { title: 'ms', label: 'at', value: ({ ms }) => ms, show: ({ ms }) => duration(ms), align: 'right' },
  {
    title: 'after_ms',
    label: 'after',
    value: (read) => Math.round(read.after_ms * 10) / 10,
    show: (read) => duration(read.after_ms),
    align: 'right',
  },
  { title: 'bytes', value: ({ bytes }) => bytes, show: ({ bytes }) => count(bytes), align: 'right' },
  {
    title: 'characters',
    label: 'text',
    value: ({ characters }) => characters,
    show: ({ characters }) => count(characters),
    align: 'right',
  },
];

/** Prints a command that repeats the call with the default key. */
export async function showCurl(context: Context, request: string): Promise<void> {
  const { endpoint, request: asked } = await contentOf(context, request);
  const { url } = context.host();
  const base = url.startsWith('http') ? url : 'http://localhost';
  const socket = url.startsWith('unix:') ? ` --unix-socket ${quoted(url.slice('unix:'.length))}` : '';
  const repeated = (asked?.headers ?? []).filter(({ name }) => /^(anthropic|openai)-/.test(name));
  const headers = [{ name: 'content-type', value: 'application/json' }, ...repeated];
  const lines = [
    `curl${socket} ${quoted(`${base}${endpoint}`)}`,
    '-H "authorization: Bearer $(gateway keys default)"',
    ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(escapeJson(asked?.body?.text ?? ''))}`,
  ];
  context.out.text(`${lines.join(' \\\n  ')}\n`);
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
