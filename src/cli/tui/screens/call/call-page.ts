import type { TraceContent } from '../../../../shared/contract/content.ts';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { sizeText } from '../../../../shared/text/size-text.ts';
import type { KeyNames } from '../../../../view/key-names.ts';
import { count } from '../../../../view/numbers.ts';
import { curlOf } from '../../../commands/traces/content.ts';
import { traceRecord } from '../../../commands/traces/traces.ts';
import { waterfall } from '../../../commands/traces/waterfall.ts';
import {
  type CapturedContent,
  capturedRequest,
  contentPassages,
  storedPassages,
} from '../../../content/call-content.ts';
import type { Passage } from '../../../content/conversation-text.ts';
import { costLines } from '../../../content/cost-lines.ts';
import { escapeControls, escapeJson } from '../../../output/escape-controls.ts';
import { wrapLine } from '../../../output/wrap-line.ts';
import type { Services } from '../../services/services.ts';
import { untrustedLines } from '../../text/cells.ts';
import { conversationLines } from '../../text/conversation-lines.ts';
import type { RenderOptions } from '../../text/render-options.ts';
import { recordLines } from '../pages.ts';
import type { Page, PageTab } from '../screen.ts';
import { compositionLines } from './composition-lines.ts';
import { type Body, ContentPages } from './content-pages.ts';

interface CallPageOptions {
  trace: TraceView;
  keyNames: KeyNames;
  services: Services;
  /** The address of the daemon. */
  baseUrl: () => string;
}

/** Everything about one finished call, in tabs. Content is fetched when its tab is first shown. */
export function callPage({ trace, keyNames, services, baseUrl }: CallPageOptions): Page {
  const { client, now } = services;
  const pages = new ContentPages(client, trace);
  const record = (options: RenderOptions) =>
    recordLines(trace, traceRecord(trace, { now: now(), keyNames }), options);
  const tabs: PageTab[] = [
    {
      title: 'Timeline',
      lines: (options) => timelineLines(trace, record(options), pages, options),
      load: () => pages.load('composition'),
      copy: () => trace.request_id,
    },
    bodyTab('Request', 'request', pages),
    bodyTab('Answer', 'answer', pages),
    {
      title: 'Attempts',
      lines: (options) => attemptLines(trace, pages, options),
      load: () => pages.load('attempts'),
    },
    { title: 'Cost', lines: (options) => costLines(trace, options) },
    {
      title: 'Headers',
      lines: (options) => headerLines(pages, options),
      load: async () => void (await Promise.all([pages.load('request'), pages.load('attempts')])),
    },
    {
      title: 'Raw',
      lines: ({ width }) => jsonLines(trace, width),
      copy: () => JSON.stringify(trace, null, 2),
    },
  ];
  return {
    title: trace.request_id,
    lines: record,
    tabs,
    copy: trace.request_id,
    async curl() {
      const { endpoint, headers, text } = await capturedRequest(client, trace.request_id);
      if (text === null) throw new Error('The request is not kept.');
      return curlOf({ endpoint, headers, body: text }, baseUrl());
    },
  };
}

function timelineLines(
  trace: TraceView,
  record: string[],
  { content }: ContentPages,
  options: RenderOptions,
): string[] {
  const { width, paint, isPlain } = options;
  const chart = isPlain ? [] : [...waterfall(trace, width, paint).trimEnd().split('\n'), ''];
  const composition = content.composition ? [...compositionLines(content.composition, options), ''] : [];
  return [...chart, ...composition, ...record];
}

const forms = ['conversation', 'raw'] as const;

/** A request or an answer, laid out for reading or as it is. */
function bodyTab(title: string, part: 'request' | 'answer', pages: ContentPages): PageTab {
  /** How much of the raw form is shown; more is laid out when its end is reached. */
  let shownMax = shownCharacters;
  const isLaidOut = () => pages.bodies[part]?.json !== undefined;
  const said = (options: RenderOptions) => conversationLines(shortened(passagesOf(part, pages)), options);
  const raw = (body: Body) =>
    body.json === undefined ? escapeControls(body.text) : escapeJson(JSON.stringify(body.json, null, 2));
  return {
    title,
    forms,
    load: () => pages.load(part),
    turns: (options) => (options.form === 'raw' ? undefined : said(options)),
    lines(options) {
      const body = pages.bodies[part];
      if (!body) return pages.stored ? said(options).lines : missingLines(part, pages, options);
      if (options.form !== 'raw' && isLaidOut())
        return [...partialLines(body, options), ...said(options).lines];
      const text = raw(body);
      const note = options.form === 'raw' ? [] : longLines(body, options);
      const lines = text
        .slice(0, shownMax)
        .split('\n')
        .flatMap((line) => wrapLine(line.replaceAll('\t', '  '), options.width));
      return [...note, ...partialLines(body, options), ...lines, ...restLines(text, shownMax, body, options)];
    },
    more({ form }) {
      const body = pages.bodies[part];
      if (!body || (form !== 'raw' && isLaidOut())) return undefined;
      if (raw(body).length > shownMax) {
        shownMax += shownCharacters;
        return Promise.resolve();
      }
      if (body.next === null) return undefined;
      shownMax += shownCharacters;
      return pages.more(part);
    },
    copy: () => pages.bodies[part]?.text,
  };
}

/** How much text is laid out at once. */
const shownCharacters = 256 * 1024;
const passageCharacters = 64 * 1024;

function passagesOf(part: 'request' | 'answer', { bodies, stored }: ContentPages): Passage[] {
  if (stored && !bodies[part]) {
    const input = part === 'request' ? stored.input : [];
    const response =
      part === 'request'
        ? { ...stored.response, output: [], error: null }
        : { output: stored.response.output };
    return storedPassages({ response: response as typeof stored.response, input });
  }
  const content: CapturedContent = { request: undefined, answer: undefined, [part]: bodies[part]?.json };
  return contentPassages({ source: 'capture', ...content });
}

/** The last passages up to what is laid out at once; the raw form has all. */
function shortened(passages: readonly Passage[]): Passage[] {
  let room = shownCharacters;
  const kept: Passage[] = [];
  for (const { role, text } of passages.toReversed()) {
    if (room <= 0) break;
    const most = Math.min(room, passageCharacters);
    const left = text.length - most;
    kept.push({
      role,
      text: left > 0 ? `${text.slice(0, most)}\n[${count(left)} more characters in the raw form]` : text,
    });
    room -= text.length;
  }
  const dropped = passages.length - kept.length;
  const note = { role: 'earlier', text: `[${count(dropped)} earlier parts in the raw form]` };
  return [...(dropped > 0 ? [note] : []), ...kept.reverse()];
}

const noteLines = (text: string, { width, paint }: RenderOptions) =>
  wrapLine(text, width).map((line) => paint('yellow', line));

function missingLines(part: string, { reason, content }: ContentPages, options: RenderOptions): string[] {
  if (reason !== undefined) return untrustedLines(reason, options.width);
  if (content.request_id === undefined) return [options.paint('dim', 'Loading…')];
  return [`There is no ${part}.`];
}

function partialLines({ isPartial }: Body, options: RenderOptions): string[] {
  return isPartial ? [...noteLines('Parts of this were deleted.', options), ''] : [];
}

function longLines({ bytes, next }: Body, options: RenderOptions): string[] {
  const why = next === null ? 'This is no JSON' : `This is long (${sizeText(bytes)})`;
  return [...noteLines(`${why}, and shown as it is.`, options), ''];
}

function restLines(text: string, shown: number, { next, bytes }: Body, options: RenderOptions): string[] {
  if (text.length <= shown && next === null) return [];
  const seen = sizeText(Buffer.byteLength(text.slice(0, shown)));
  return ['', ...noteLines(`${seen} of ${sizeText(bytes)}; more comes at the end of the page (>).`, options)];
}

function jsonLines(value: unknown, width: number): string[] {
  return escapeJson(JSON.stringify(value, null, 2) ?? 'null')
    .split('\n')
    .flatMap((line) => wrapLine(line, width));
}

type Headers = readonly { name: string; value: string }[];

const headerTexts = (headers: Headers, { width, paint }: RenderOptions) =>
  headers.length === 0
    ? [paint('dim', 'none are kept')]
    : headers.flatMap(({ name, value }) => {
        const [first = '', ...rest] = untrustedLines(`${name}: ${value}`, width);
        return [first, ...rest.map((line) => `  ${line}`)];
      });

/** What each provider was sent, and what it answered where that was no answer of a model. */
function attemptLines(trace: TraceView, pages: ContentPages, options: RenderOptions): string[] {
  const { paint, width } = options;
  const sent = pages.content.attempts;
  const titles = trace.attempts.map(({ provider, model, status, error_code: code, message }, at) => {
    const outcome = code ?? String(status);
    const title = paint('bold', escapeControls(`${at + 1}  ${provider} · ${model}`).replaceAll('\n', ' '));
    return [
      `${title} · ${paint(code === null ? 'green' : 'red', escapeControls(outcome))}`,
      ...(message ? untrustedLines(message, width) : []),
    ];
  });
  const kept = (sent ?? []).map((attempt, at) => [
    ...(titles[at] ?? [paint('bold', `${at + 1}`)]),
    ...untrustedLines(`POST ${attempt.url}`, width),
    ...headerTexts(attempt.headers, options).map((line) => paint('dim', line)),
    ...bodyLines(attempt.body, options),
    '',
    ...untrustedLines(`answered ${attempt.status ?? 'nothing'}`, width),
    ...headerTexts(attempt.response_headers, options).map((line) => paint('dim', line)),
    ...bodyLines(attempt.response_body, options),
    '',
  ]);
  const others = titles.slice(kept.length).flatMap((lines) => [...lines, '']);
  const none = trace.attempts.length === 0 ? ['No provider was asked.'] : [];
  const missing = sent || trace.attempts.length === 0 ? [] : missingLines('attempt', pages, options);
  return [...kept.flat(), ...others, ...none, ...missing];
}

type KeptText = NonNullable<TraceContent['request']>['body'];

const attemptCharacters = 64 * 1024;

function bodyLines(body: KeptText, options: RenderOptions): string[] {
  if (!body) return [];
  const { width, paint } = options;
  const text = readable(body.text);
  const isCut = text.length > attemptCharacters || body.next !== null;
  const lines = untrustedLines(text.slice(0, attemptCharacters), width);
  return ['', ...lines, ...(isCut ? [paint('yellow', `… of ${sizeText(body.bytes)}`)] : [])];
}

/** JSON with line breaks; other text as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function headerLines(pages: ContentPages, options: RenderOptions): string[] {
  const { request, attempts } = pages.content;
  const { paint } = options;
  if (!request && !attempts) return missingLines('header', pages, options);
  const section = (title: string, headers: Headers | undefined) =>
    headers
      ? [paint('bold', escapeControls(title).replaceAll('\n', ' ')), ...headerTexts(headers, options), '']
      : [];
  return [
    ...section('request', request?.headers),
    ...(attempts ?? []).flatMap(({ provider, headers, response_headers: answered }) => [
      ...section(`to ${provider}`, headers),
      ...section(`from ${provider}`, answered),
    ]),
  ];
}
