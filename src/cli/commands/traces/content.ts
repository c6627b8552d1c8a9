import type { ContentText, TraceContent } from '../../../shared/contract/content.ts';
import { getTraceContent } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { replayedHeaders, whyNotRepeatable } from '../../../shared/replay/prepare-replay.ts';
import { curlCode, javaScriptCode, pythonCode, type WrittenCall } from '../../../shared/samples/call-code.ts';
import { respondCommand } from '../../../shared/samples/respond-command.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import { duration } from '../../../view/durations.ts';
import { count } from '../../../view/numbers.ts';
import { capturedRequest } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { escapeJson } from '../../output/escape-controls.ts';
import type { Column } from '../../output/table.ts';

type Read = NonNullable<TraceContent['reads']>[number];
type Headers = readonly { name: string; value: string }[];

const contentOf = async (context: Context, request: string): Promise<TraceContent> =>
  await context.client().call(getTraceContent, { params: { request_id: request }, query: {} });

/** Prints what was received, what was sent to each provider, and what came back. */
export async function showWire(context: Context, request: string): Promise<void> {
  const { out } = context;
  const content = await contentOf(context, request);
  if (out.wantsJson()) return out.document(content);
  const { request: asked, attempts, answer, wire } = content;
  const parts = [
    part(`request to ${content.endpoint}`, asked?.headers, asked?.body),
    ...(attempts ?? []).flatMap(({ provider, url, status, ...attempt }, index) => [
      part(`attempt ${index + 1}: ${provider}, ${url}`, attempt.headers, attempt.body),
      part(`answer of ${provider}: ${status ?? 'none'}`, attempt.response_headers, attempt.response_body),
    ]),
    part(answer?.streamed ? 'answer, put together' : 'answer', [], answer?.body),
    // Only kept while `capture wire` lasts.
    ...(wire?.received ? [part('as it came from the provider', [], wire.received)] : []),
    ...(wire?.sent ? [part('as it was sent to the client', [], wire.sent)] : []),
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

/** Plays a stream on a terminal; elsewhere, prints when each of its pieces came. */
export async function showTiming(context: Context, request: string): Promise<void> {
  const { reads } = await contentOf(context, request);
  const { out, io } = context;
  if (io.stdout.isTty && !out.wantsJson() && reads?.length) {
    const { playStream } = await import('./play-stream.ts');
    return await playStream(context, request, reads);
  }
  if (!reads?.length)
    throw new CliError('The call was not streamed, or its timing is not kept.', { exit: exitCodes.failed });
  const rows = reads.map((read, at) => ({ ...read, after_ms: read.ms - (reads[at - 1]?.ms ?? 0) }));
  await context.out.table(rows, timingColumns, { empty: '' });
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

/** How a call can be written. */
export const codeForms = ['curl', 'python', 'node', 'respond'] as const;

type CodeForm = (typeof codeForms)[number];

/** Prints a command or a program that makes the same call with the default key. */
export async function showCode(context: Context, request: string, form: CodeForm): Promise<void> {
  const { out } = context;
  const captured = await capturedRequest(context.client(), request);
  const { endpoint, text } = captured;
  if (text === null)
    throw new CliError('The request is not kept: it was too long.', { exit: exitCodes.failed });
  const problem = whyNotRepeatable(text, captured.isPartial);
  if (problem !== undefined) out.warn(problem);
  const { url } = context.host();
  const repeated = { endpoint, headers: captured.headers, body: text };
  if (form === 'curl') return out.text(`${curlOf(repeated, url)}\n`);
  const { call, socket } = writtenCall(repeated, url);
  const { body } = call;
  if (typeof body !== 'object' || body === null)
    throw new CliError('The request is not a JSON object.', {
      exit: exitCodes.failed,
      next: `As it was sent: gateway calls show ${request} --as curl`,
    });
  if (form === 'respond') return out.text(`${commandFor(body as Json, request)}\n`);
  if (socket !== undefined) out.warn('SDKs need an address, not a Unix socket.');
  const [comment, code] = form === 'python' ? ['#', pythonCode(call)] : ['//', javaScriptCode(call)];
  out.text(`${comment} export GATEWAY_KEY=${defaultKey}\n${code}\n`);
}

interface RepeatedCall {
  /** The path. */
  endpoint: string;
  headers: Headers;
  /** As it was sent. */
  body: string;
}

/** A curl command that repeats a call with the default key. */
export function curlOf(repeated: RepeatedCall, url: string): string {
  const { call, socket } = writtenCall(repeated, url);
  return curlCode(call, { key: defaultKey, bodyText: escapeJson(repeated.body), socket });
}

function writtenCall({ endpoint, headers, body }: RepeatedCall, url: string) {
  const socket = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined;
  const call: WrittenCall = {
    method: 'POST',
    baseUrl: socket === undefined ? url : 'http://localhost',
    path: endpoint,
    headers: replayedHeaders(headers),
    needsKey: true,
    body: parsed(body),
    answer: 'json',
  };
  return { call, socket };
}

const defaultKey = '$(gateway keys default)';

type Json = Record<string, unknown>;

function commandFor(body: Json, request: string): string {
  const written = respondCommand(body);
  if ('command' in written) return written.command;
  throw new CliError(`gateway respond cannot ask this: ${written.reason}.`, {
    exit: exitCodes.failed,
    next: `Use --as curl, python or node, or repeat it: gateway calls replay ${request}`,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
