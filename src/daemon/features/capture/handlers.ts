import type { CaptureLevel } from '../../../shared/constants/capture-levels.ts';
import { stayingRecords } from '../../../shared/constants/text-stores.ts';
import {
  type ContentText as ContentTextView,
  captureWire,
  clearTraceContent,
  contentCharactersMax,
  deleteTraceContent,
  endCaptureWire,
  getCapture,
  getTraceContent,
  listContentPreviews,
  previewsMax,
  type RequestComposition,
  requestPartsMax,
  searchTraceContent,
  type TraceContent,
} from '../../../shared/contract/content.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { isoTime } from '../../../shared/time/time.ts';
import {
  type Handler,
  implement,
  type KeyOrLogin,
  keyOrLogin,
  type LoginCaller,
  loginOf,
} from '../../base/handler.ts';
import { timeBound } from '../metering/index.ts';
import type { CaptureSettings, LevelSource, WireWindows } from './capture-level.ts';
import type { Cleared, ClearTexts, ClearTextsDeps, Forgotten } from './clear-texts.ts';
import type { CallContent, Composition, ContentPage, ContentStore, ContentText } from './store.ts';

export interface CaptureHandlersDeps {
  matching: ClearTextsDeps['matching'];
  store: ContentStore;
  texts: Pick<ClearTexts, 'clear' | 'forget'>;
  /** Where the content of the caller’s calls is kept. */
  levelOf: (caller: KeyOrLogin) => { usual: CaptureLevel; source: LevelSource };
  wires: WireWindows;
  now: () => number;
  /** Fails unless a login is of an owner or admin of its workspace. */
  permitAdmin: (caller: LoginCaller) => Promise<unknown>;
  settings: CaptureSettings & { memoryBytes: number; disk: { days: number; bytes: number } };
}

/** The endpoints with which callers of a workspace read and delete the content of its calls; of no other workspace. */
export function captureHandlers(deps: CaptureHandlersDeps): Handler[] {
  const { store, texts, settings, levelOf, matching, wires, now, permitAdmin } = deps;
  const wireView = (workspaceId: string) =>
    wires.of(workspaceId).map(({ keyId, until }) => ({ key: keyId, until: isoTime(until) }));
  return [
    implement(getTraceContent, async ({ caller, params: { request_id: requestId }, query }) => {
      const { workspaceId } = keyOrLogin(caller);
      const { part, at = 0, limit = contentCharactersMax } = query;
      const found = await store.find(workspaceId, requestId, { part, at, limit });
      const composition = part === 'composition' ? await store.compose(workspaceId, requestId) : null;
      if (!found || composition === undefined) throw notKept(settings);
      return { ...contentView(found, part), composition: composition && compositionView(composition) };
    }),

    implement(listContentPreviews, async ({ caller, query: { requests } }) => {
      const requestIds = requests.split(',');
      if (requestIds.length > previewsMax)
        throw new ApiError('invalid_request', {
          param: 'requests',
          message: `\`requests\` must name at most ${previewsMax} requests.`,
        });
      const found = await store.previews(keyOrLogin(caller).workspaceId, requestIds);
      return {
        object: 'trace.previews' as const,
        data: found.map(({ requestId, ...preview }) => ({ request_id: requestId, ...preview })),
      };
    }),

    implement(deleteTraceContent, async ({ caller, params: { request_id: requestId } }) => {
      if (!(await store.remove(loginOf(caller).workspaceId, requestId))) throw notKept(settings);
      return { object: 'trace.content.deleted' as const, deleted: 1 };
    }),

    implement(clearTraceContent, async ({ caller, query: { key: keyId, user, until, q, only, forget } }) => {
      const { workspaceId } = loginOf(caller);
      if (forget) {
        const isAlone = [keyId, until, q, only].every((condition) => condition === undefined);
        if (user === undefined || !isAlone)
          throw inputFault('forget', 'needs `user`, and takes no other condition');
        await permitAdmin(loginOf(caller));
        return clearedView(await texts.forget(workspaceId, user));
      }
      const before = timeBound('until', until, { now: now() });
      return clearedView(await texts.clear({ workspaceId, keyId, user, before, q }, only));
    }),

    implement(searchTraceContent, async ({ caller, query: { key: keyId, limit = 20, ...query } }) => {
      const { workspaceId } = keyOrLogin(caller);
      const { q } = query;
      const matchingOf = q === undefined ? undefined : matching(workspaceId, { ...unselected, q });
      const { matches, ...rest } = await store.search({
        workspaceId,
        keyId,
        limit,
        text: query.text,
        after: query.after,
        since: timeBound('since', query.since, { now: now() }),
        until: timeBound('until', query.until, { now: now() }),
      });
      const wanted = await matchingOf?.(matches.map(({ requestId }) => requestId));
      const shown = wanted ? matches.filter(({ requestId }) => wanted.has(requestId)) : matches;
      return {
        object: 'trace.matches' as const,
        matches: shown.map(({ requestId, at, ...match }) => ({
          request_id: requestId,
          captured_at: isoTime(at),
          ...match,
        })),
        ...rest,
      };
    }),

    implement(
      captureWire,
      async ({ caller, body: { minutes, key } }) => {
        const { workspaceId } = loginOf(caller);
        wires.open(workspaceId, { keyId: key ?? null, until: now() + minutes * 60_000 });
        return { object: 'capture.wire' as const, wire: wireView(workspaceId) };
      },
      ({ caller }) => permitAdmin(loginOf(caller)),
    ),

    implement(
      endCaptureWire,
      async ({ caller }) => {
        const { workspaceId } = loginOf(caller);
        wires.close(workspaceId);
        return { object: 'capture.wire' as const, wire: wireView(workspaceId) };
      },
      ({ caller }) => permitAdmin(loginOf(caller)),
    ),

    implement(getCapture, async ({ caller }) => {
      const known = keyOrLogin(caller);
      const { calls, bytes, diskBytes, oldestAt, dropped } = await store.status(known.workspaceId);
      const { usual, source } = levelOf(known);
      return {
        object: 'capture' as const,
        content: settings.content,
        level: usual,
        source,
        memory_bytes_max: settings.memoryBytes,
        disk_bytes_max: settings.disk.bytes,
        disk_days: settings.disk.days,
        requests: calls,
        bytes,
        disk_bytes: diskBytes,
        oldest_at: oldestAt === null ? null : isoTime(oldestAt),
        wire: wireView(known.workspaceId),
        dropped,
      };
    }),
  ];
}

const unselected = { keyId: undefined, user: undefined, before: undefined };

function clearedView({ stores, running, forgotten }: Cleared & { forgotten?: Forgotten }) {
  return {
    object: 'trace.texts.deleted' as const,
    deleted: stores.find(({ store }) => store === 'content')?.deleted ?? 0,
    stores,
    running,
    stays: Object.entries(stayingRecords).map(([store, what]) => ({
      store: store as keyof typeof stayingRecords,
      what,
    })),
    forgotten: forgotten ?? null,
  };
}

function notKept({ content }: CaptureSettings): ApiError {
  const why =
    content === 'off'
      ? 'This host keeps no content: `capture.content` is off.'
      : 'It was not captured, or has been deleted, or made room for that of newer requests, or was in memory when the daemon was restarted.';
  return new ApiError('not_found', {
    param: 'request_id',
    message: `The content of this request is not kept. ${why}`,
  });
}

function contentView(content: CallContent, part: ContentPage['part']): Omit<TraceContent, 'composition'> {
  const { body, attempts, answer, isStream, isCut } = content;
  const isAsked = (name: ContentPage['part']) => part === undefined || part === name;
  return {
    object: 'trace.content',
    request_id: content.requestId,
    endpoint: content.endpoint,
    key: content.keyId,
    captured_at: isoTime(content.at),
    level: content.level,
    is_complete: content.isComplete,
    redacted: [...content.redacted],
    request: isAsked('request') ? { headers: headersIn(content.headers), body: textView(body) } : null,
    attempts: isAsked('attempts')
      ? attempts.map((attempt) => ({
          provider: attempt.provider,
          url: attempt.url,
          headers: headersIn(attempt.headers),
          body: textView(attempt.body),
          status: attempt.status,
          response_headers: headersIn(attempt.received),
          response_body: textView(attempt.refusal),
        }))
      : null,
    answer:
      isAsked('answer') && content.isComplete
        ? { streamed: isStream, is_cut: isCut, body: textView(answer) }
        : null,
    wire:
      isAsked('wire') && content.wire
        ? {
            received: textView(content.wire.received),
            sent: textView(content.wire.sent),
            is_cut: content.wire.isCut,
          }
        : null,
    reads: isAsked('timing') && isStream ? [...content.reads] : null,
  };
}

function compositionView({ parts, previous }: Composition): RequestComposition {
  const byKind = new Map<string, RequestComposition['by_kind'][number]>();
  for (const { kind, bytes, tokens } of parts) {
    const sum = byKind.get(kind) ?? { kind, parts: 0, bytes: 0, tokens: 0 };
    byKind.set(kind, { kind, parts: sum.parts + 1, bytes: sum.bytes + bytes, tokens: sum.tokens + tokens });
  }
  return {
    parts: parts
      .slice(0, requestPartsMax)
      .map(({ firstSeenIn, ...part }) => ({ ...part, first_seen_in: firstSeenIn })),
    parts_omitted: Math.max(0, parts.length - requestPartsMax),
    by_kind: [...byKind.values()].sort((a, b) => b.tokens - a.tokens || b.bytes - a.bytes),
    ...sumsOf(parts),
    previous: previous && previousView(previous),
  };
}

function previousView({
  requestId,
  at,
  unchanged,
  changedParameters,
  broke,
}: NonNullable<Composition['previous']>) {
  const { bytes, tokens } = sumsOf(unchanged);
  return {
    request_id: requestId,
    captured_at: isoTime(at),
    unchanged_parts: unchanged.length,
    unchanged_bytes: bytes,
    unchanged_tokens: tokens,
    changed_parameters: [...changedParameters],
    break: broke,
  };
}

function sumsOf(parts: readonly { bytes: number; tokens: number }[]) {
  return parts.reduce(
    (sum, { bytes, tokens }) => ({ bytes: sum.bytes + bytes, tokens: sum.tokens + tokens }),
    { bytes: 0, tokens: 0 },
  );
}

function textView(content: ContentText | null): ContentTextView | null {
  if (content === null) return null;
  const { isPartial, ...text } = content;
  return { ...text, is_partial: isPartial };
}

function headersIn(flat: readonly string[]): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = [];
  for (let at = 0; at < flat.length; at += 2)
    headers.push({ name: flat[at] ?? '', value: flat[at + 1] ?? '' });
  return headers;
}
