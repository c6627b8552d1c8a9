import type { TraceView } from '../../../../shared/contract/traces.ts';
import type { ExportContent } from '../../../../shared/contract/traces-export.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import { type ExportedCall, type ExportedText, type ExportWriter, headersOf } from './exported-call.ts';

export interface HarOptions {
  content: ExportContent;
  /** `http://127.0.0.1:4100` */
  baseUrl: string;
  version: string;
}

/**
 * One document of the HTTP Archive format 1.2, an entry per line: the call as its client made it, and with `wire` each request to a
 * provider after it. Source: http://www.softwareishard.com/blog/har-12-spec/
 */
export function harWriter({ content: wanted, baseUrl, version }: HarOptions): ExportWriter {
  const creator = JSON.stringify({ name: 'gateway', version });
  return {
    head: `{"log":{"version":"1.2","creator":${creator},"entries":[\n`,
    call(call, isFirst) {
      const entries = [clientEntry(call, baseUrl), ...(wanted === 'wire' ? attemptEntries(call) : [])].map(
        (entry) => JSON.stringify(entry),
      );
      return `${isFirst ? '' : ','}${entries.join('\n,')}\n`;
    },
    tail: ']}}\n',
  };
}

interface Timed {
  /** Milliseconds since 1970. */
  startedAt: number;
  waitMs: number;
  receiveMs: number;
}

function clientEntry({ record, view, content }: ExportedCall, baseUrl: string): object {
  const { total_ms: total, first_token_ms: first } = view.timings;
  const startedAt = record.completedAt - total;
  const wait = Math.min(first ?? total, total);
  return entryOf({
    times: { startedAt, waitMs: wait, receiveMs: total - wait },
    url: baseUrl + view.endpoint,
    headers: content?.headers ?? [],
    body: content?.body ?? null,
    status: view.http_status ?? 0,
    received: [],
    answer: content?.answer ?? null,
    own: { _request_id: view.request_id, _trace: view },
  });
}

function attemptEntries({ record, view, content }: ExportedCall): object[] {
  return (content?.attempts ?? []).map((attempt, index) => {
    const timed: TraceView['attempts'][number] | undefined = view.attempts[index];
    const started = timed?.started_ms ?? 0;
    return entryOf({
      times: {
        startedAt: record.completedAt - record.totalMs + started,
        waitMs: Math.max(0, (timed?.ended_ms ?? started) - started),
        receiveMs: 0,
      },
      url: attempt.url,
      headers: attempt.headers,
      body: attempt.body,
      status: attempt.status ?? 0,
      received: attempt.received,
      answer: attempt.refusal,
      own: { _request_id: view.request_id, _attempt: index + 1, _provider: attempt.provider },
    });
  });
}

interface Exchange {
  times: Timed;
  url: string;
  headers: readonly string[];
  body: ExportedText | null;
  status: number;
  received: readonly string[];
  answer: ExportedText | null;
  /** Members whose names begin with `_` are the writer's own. */
  own: object;
}

function entryOf({ times, url, headers, body, status, received, answer, own }: Exchange): object {
  const { startedAt, waitMs, receiveMs } = times;
  const mimeType = 'application/json';
  return {
    startedDateTime: isoTime(Math.round(startedAt)),
    time: waitMs + receiveMs,
    request: {
      method: 'POST',
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(headers),
      queryString: queryOf(url),
      ...(body && { postData: { mimeType, text: body.text } }),
      headersSize: -1,
      bodySize: body === null ? -1 : sizeOf(body.text),
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(received),
      content: {
        size: answer === null ? 0 : sizeOf(answer.text),
        mimeType: answer === null ? 'x-unknown' : mimeType,
        ...(answer && { text: answer.text }),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: waitMs, receive: receiveMs },
    ...own,
  };
}

function queryOf(url: string): { name: string; value: string }[] {
  const parsed = URL.parse(url);
  return parsed ? [...parsed.searchParams].map(([name, value]) => ({ name, value })) : [];
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}
