import {
  type ContentText as ContentTextView,
  clearTraceContent,
  contentCharactersMax,
  deleteTraceContent,
  getCapture,
  getTraceContent,
  searchTraceContent,
  type TraceContent,
} from '../../../shared/contract/content.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time.ts';
import { type Handler, implement, keyOrLogin, loginOf } from '../../handler.ts';
import { timeBound } from '../metering/index.ts';
import type { CaptureSettings } from './capture-level.ts';
import type { CallContent, ContentStore, ContentText } from './store.ts';

export interface CaptureHandlersDeps {
  store: ContentStore;
  settings: CaptureSettings & { memoryBytes: number };
}

/** The endpoints with which callers of a workspace read and delete the content of its calls; of no other workspace. */
export function captureHandlers({ store, settings }: CaptureHandlersDeps): Handler[] {
  return [
    implement(getTraceContent, async ({ caller, params: { request_id: requestId }, query }) => {
      const found = await store.find(keyOrLogin(caller).workspaceId, requestId);
      if (!found) throw notKept(settings);
      return contentView(found, query);
    }),

    implement(deleteTraceContent, async ({ caller, params: { request_id: requestId } }) => {
      if (!(await store.remove(loginOf(caller).workspaceId, requestId))) throw notKept(settings);
      return { object: 'trace.content.deleted' as const, deleted: 1 };
    }),

    implement(clearTraceContent, async ({ caller, query: { key: keyId, until } }) => {
      const { workspaceId } = loginOf(caller);
      const deleted = await store.clear({ workspaceId, keyId, before: timeBound('until', until) });
      return { object: 'trace.content.deleted' as const, deleted };
    }),

    implement(searchTraceContent, async ({ caller, query: { key: keyId, limit = 20, ...query } }) => {
      const { workspaceId } = keyOrLogin(caller);
      const { matches, ...rest } = await store.search({
        workspaceId,
        keyId,
        limit,
        text: query.text,
        after: query.after,
        since: timeBound('since', query.since),
        until: timeBound('until', query.until),
      });
      return {
        object: 'trace.matches' as const,
        matches: matches.map(({ requestId, at, ...match }) => ({
          request_id: requestId,
          captured_at: isoTime(at),
          ...match,
        })),
        ...rest,
      };
    }),

    implement(getCapture, async ({ caller }) => {
      const { calls, bytes, oldestAt, dropped } = await store.status(keyOrLogin(caller).workspaceId);
      return {
        object: 'capture' as const,
        content: settings.content,
        memory_bytes_max: settings.memoryBytes,
        requests: calls,
        bytes,
        oldest_at: oldestAt === null ? null : isoTime(oldestAt),
        dropped,
      };
    }),
  ];
}

function notKept({ content }: CaptureSettings): ApiError {
  const why =
    content === 'off'
      ? 'This host keeps no content: `capture.content` is off.'
      : 'It was not captured, or has been deleted, or made room for that of newer requests, or the daemon has been restarted since.';
  return new ApiError('not_found', {
    param: 'request_id',
    message: `The content of this request is not kept. ${why}`,
  });
}

interface Page {
  part?: 'request' | 'attempts' | 'answer' | 'timing';
  at?: number;
  limit?: number;
}

function contentView(
  content: CallContent,
  { part, at = 0, limit = contentCharactersMax }: Page,
): TraceContent {
  const { body, attempts, answer, isStream, isCut } = content;
  const isAsked = (name: Page['part']) => part === undefined || part === name;
  const page = (text: ContentText | null) => text && pageOf(text, at, limit);
  return {
    object: 'trace.content',
    request_id: content.requestId,
    endpoint: content.endpoint,
    key: content.keyId,
    captured_at: isoTime(content.at),
    level: content.level,
    is_complete: content.isComplete,
    request: isAsked('request') ? { headers: headersIn(content.headers), body: page(body) } : null,
    attempts: isAsked('attempts')
      ? attempts.map((attempt) => ({
          provider: attempt.provider,
          url: attempt.url,
          headers: headersIn(attempt.headers),
          body: page(attempt.body),
          status: attempt.status,
          response_headers: headersIn(attempt.received),
          response_body: page(attempt.refusal),
        }))
      : null,
    answer:
      isAsked('answer') && content.isComplete
        ? { streamed: isStream, is_cut: isCut, body: page(answer) }
        : null,
    reads: isAsked('timing') && isStream ? [...content.reads] : null,
  };
}

/** A page ends between characters, and not within a pair of surrogates. */
function pageOf({ bytes, text, isPartial }: ContentText, at: number, limit: number): ContentTextView {
  let end = Math.min(at + limit, text.length);
  if (end < text.length && end > at + 1 && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
  const next = end < text.length ? end : null;
  return { bytes, text: text.slice(at, end).toWellFormed(), next, is_partial: isPartial };
}

function headersIn(flat: readonly string[]): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = [];
  for (let at = 0; at < flat.length; at += 2)
    headers.push({ name: flat[at] ?? '', value: flat[at + 1] ?? '' });
  return headers;
}
