import { ApiError, failures } from '../../../shared/errors.ts';
import { maskText } from '../../../shared/masking/mask-text.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import { credentialId } from '../../base/handler.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { CallObserver, RejectedCall } from '../calls/index.ts';
import { type EventFeed, hostEvents, type NewEvent } from '../events/index.ts';
import type { Rejection, TracesStore } from './store.ts';

/** In each window, this many similar rejections are recorded one by one, and the rest are counted. */
const windowMs = 60_000;
const recordedOfKindMax = 10;
const recordedOfWorkspaceMax = 20;
/** So many times in each window, what was only counted is recorded early, as someone reads counts. */
const earlyMax = 20;
/** Beyond this number of kinds per workspace, callers are counted together. */
const kindsMax = 8;
/** Rejected calls that the server has yet to report as failed requests. */
const reportedMax = 1000;
/** The newest of each workspace are stored. */
const storedMax = 10_000;
const messageCharactersMax = 300;

/** Rejections of one kind: of one caller and for one reason. */
interface Kind {
  recorded: number;
  /** Counted since the window began. */
  counted: number;
  /** The newest that was counted. */
  last: Rejection | undefined;
}

/** The current window of one workspace. */
interface Window {
  recorded: number;
  /** How often it was recorded what had only been counted. */
  early: number;
  kinds: Map<string, Kind>;
}

export interface RejectionsDeps {
  store: Pick<TracesStore, 'recordRejection'>;
  feed: Pick<EventFeed, 'announce' | 'publish'>;
  world: Pick<World, 'now' | 'sleep'>;
  /** Whether a call was settled since the start of the daemon. */
  wasSettled(requestId: string): boolean;
  /** Called with every rejection. */
  onRejected(endpoint: string, errorCode: string): void;
  /** Called with those that are recorded. */
  onRecorded(rejection: Rejection): void;
}

/**
 * Records rejected calls as traces and events. A flood of them costs memory and disk for a few of each kind only; at the
 * end of each minute the last one is recorded with the number of the others.
 */
export class Rejections implements CallObserver {
  readonly #deps: RejectionsDeps;
  readonly #windows = new Map<string | null, Window>();
  readonly #reported = new RecentMap<string, true>(reportedMax);
  /** Resolves when all that is recorded is stored. */
  #stored: Promise<unknown> = Promise.resolve();

  constructor(deps: RejectionsDeps) {
    this.#deps = deps;
  }

  /** A call was rejected in the pipeline. Its request fails later, if it has one. */
  onRejected({ call, error, ms }: RejectedCall): void {
    const { caller, requestId, endpoint, inference, labels } = call;
    this.#reported.set(requestId, true);
    const isApiError = error instanceof ApiError;
    const completedAt = this.#deps.world.now();
    this.#take({
      requestId,
      workspaceId: caller.workspaceId,
      keyId: credentialId(caller),
      address: null,
      endpoint,
      model: inference.model ?? null,
      streamed: inference.stream,
      httpStatus: isApiError ? error.status : failures.server_error.status,
      ...reasonOf(error),
      totalMs: Math.round(ms),
      createdAt: Math.round(completedAt - ms),
      completedAt,
      labels,
      more: 0,
    });
  }

  /** A request for a model call failed. Ignored if the pipeline rejected or settled the call. */
  onFailedRequest(rejection: Omit<Rejection, 'createdAt' | 'completedAt' | 'more'>): void {
    const { requestId, totalMs } = rejection;
    if (this.#reported.delete(requestId) || this.#deps.wasSettled(requestId)) return;
    const completedAt = this.#deps.world.now();
    this.#take({ ...rejection, createdAt: Math.round(completedAt - totalMs), completedAt, more: 0 });
  }

  /** Records what was counted, every minute until aborted and once more at the end. */
  async keepRecording(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { world } = this.#deps;
    await repeatedly(world, { everyMs: windowMs, signal, onFailure }, () => this.flush());
    await this.flush();
  }

  /** Records the last one of each kind that was only counted, and starts new windows. */
  async flush(): Promise<void> {
    const windows = [...this.#windows.values()];
    this.#windows.clear();
    for (const window of windows) this.#recordCounted(window);
    await this.#stored;
  }

  /** Records what was only counted of some workspaces, so that counts read from the store have it; null is unknown callers. */
  async recordCounted(workspaceIds: readonly (string | null)[]): Promise<void> {
    for (const workspaceId of workspaceIds) {
      const window = this.#windows.get(workspaceId);
      if (window && window.early < earlyMax && this.#recordCounted(window)) window.early += 1;
    }
    await this.#stored;
  }

  /** Returns whether there was something. */
  #recordCounted({ kinds }: Window): boolean {
    let isAny = false;
    for (const kind of kinds.values()) {
      const { last, counted } = kind;
      if (!last) continue;
      isAny = true;
      kind.last = undefined;
      kind.counted = 0;
      this.#record({ ...last, more: counted - 1 });
    }
    return isAny;
  }

  #take(received: Rejection): void {
    const rejection = masked(received);
    const { workspaceId, endpoint, errorCode } = rejection;
    this.#deps.onRejected(endpoint, errorCode);
    const window = this.#windows.get(workspaceId) ?? {
      recorded: 0,
      early: 0,
      kinds: new Map<string, Kind>(),
    };
    this.#windows.set(workspaceId, window);
    const kind = kindIn(window, rejection);
    if (kind.recorded < recordedOfKindMax && window.recorded < recordedOfWorkspaceMax) {
      kind.recorded += 1;
      window.recorded += 1;
      this.#record(rejection);
    } else {
      kind.counted += 1;
      kind.last = rejection;
    }
  }

  /** Without storage, such as on a full disk, current readers get the event all the same. */
  #record(rejection: Rejection): void {
    const { store, feed, onRecorded } = this.#deps;
    onRecorded(rejection);
    const event = rejectionEvent(rejection);
    const recorded = store.recordRejection(rejection, event, storedMax).then(
      () => feed.announce(event),
      () => feed.publish(event),
    );
    this.#stored = Promise.all([this.#stored, recorded]);
  }
}

function kindIn({ kinds }: Window, { keyId, address, errorCode, param }: Rejection): Kind {
  const reason = errorCode === 'limit_reached' ? `${errorCode} ${param}` : errorCode;
  const exact = `${reason} ${keyId ?? address ?? ''}`;
  const known = kinds.get(exact) ?? (kinds.size < kindsMax ? undefined : kinds.get(reason));
  if (known) return known;
  const kind = { recorded: 0, counted: 0, last: undefined };
  kinds.set(kinds.size < kindsMax ? exact : reason, kind);
  return kind;
}

/** Why a call was rejected. A provider's own words are replaced by the sentence of the error code. */
export function reasonOf(error: unknown): Pick<Rejection, 'errorCode' | 'param' | 'message'> {
  if (!(error instanceof ApiError))
    return { errorCode: 'server_error', param: null, message: failures.server_error.message };
  const { code, param, message, cause } = error;
  return {
    errorCode: code,
    param: param === null ? null : shortened(param),
    message: shortened(cause === undefined ? message : failures[code].message),
  };
}

/** What a caller sent in the place of a model or a path may be a key. */
function masked(rejection: Rejection): Rejection {
  const { endpoint, model, param, message } = rejection;
  return {
    ...rejection,
    endpoint: maskText(endpoint),
    model: model && maskText(model),
    param: param && maskText(param),
    message: maskText(message),
  };
}

function shortened(text: string): string {
  return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax)}…` : text;
}

/** The event `request.rejected`. */
export function rejectionEvent(rejection: Rejection): NewEvent {
  return {
    type: 'request.rejected',
    workspaceId: rejection.workspaceId ?? hostEvents,
    at: rejection.completedAt,
    data: {
      request_id: rejection.requestId,
      endpoint: rejection.endpoint,
      model: rejection.model,
      key: rejection.keyId,
      address: rejection.address,
      streamed: rejection.streamed,
      status: 'rejected',
      http_status: rejection.httpStatus,
      error_code: rejection.errorCode,
      param: rejection.param,
      message: rejection.message,
      total_ms: rejection.totalMs,
      more: rejection.more,
    },
  };
}
