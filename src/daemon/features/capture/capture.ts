import type { CaptureLevel } from '../../../shared/constants/capture-levels.ts';
import type { ApiError } from '../../../shared/errors.ts';
import { keptHeadersIn } from '../../../shared/masking/mask-headers.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import { type Caller, credentialId, type Identified } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import type { CallCapture, CapturedRequest, Captures, ModelCall } from '../calls/index.ts';
import {
  type CaptureSettings,
  captureLevel,
  type WireWindows,
  type WorkspaceLevels,
} from './capture-level.ts';
import { CapturedCall } from './captured-call.ts';
import type { AskedContent, ContentStore } from './store.ts';

/** Longer requests are kept without their body. */
const bodyBytesMax = 8 * 1024 * 1024;
/** Rejected calls whose traces were recorded just now. */
const recordedMax = 100;

export interface CaptureDeps {
  store: Pick<ContentStore, 'isFull' | 'asked' | 'streamed' | 'answered'>;
  /** Read with each call. */
  settings: CaptureSettings;
  hostWorkspaceId: () => string | undefined;
  workspaces: Pick<WorkspaceLevels, 'of'>;
  wires: Pick<WireWindows, 'isOpen'>;
  /** The body of an error, as the client of a request gets it. */
  errorText: (error: ApiError, request: ErrorReceiver) => string;
  /** The end user that a request names whose labels were not read, as it was rejected. */
  userOf: (headers: Headers, body: unknown) => string | null;
  world: Pick<World, 'now' | 'elapsed'>;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A request that is answered with an error. */
interface ErrorReceiver {
  requestId: string;
  /** The path of the endpoint. */
  endpoint: string;
  headers: Headers;
}

const noHeaders: Headers = {};

/** A request for a model call that failed before it was one. */
interface FailedRequest {
  requestId: string;
  caller: Caller;
  endpoint: { path: string } | undefined;
  headers: Headers;
  /** As far as it was parsed. */
  body: unknown;
  /** Undefined if the client left. */
  error: ApiError | undefined;
}

interface Beginning
  extends Pick<AskedContent, 'requestId' | 'endpoint' | 'user' | 'conversation' | 'level' | 'body'> {
  caller: Identified;
  headers: Headers;
}

/** Keeps the content of model calls, as far as the host, the caller and the request allow it. */
export class Capture implements Captures {
  readonly #deps: CaptureDeps;
  readonly #recorded = new RecentMap<string, true>(recordedMax);

  readonly #elapsed = () => this.#deps.world.elapsed();
  readonly #wasRecorded = (requestId: string) => this.#recorded.delete(requestId);

  constructor(deps: CaptureDeps) {
    this.#deps = deps;
  }

  begin(call: ModelCall): CallCapture | undefined {
    const { settings, store } = this.#deps;
    if (settings.content === 'off') return undefined;
    const { caller, requestId, endpoint, inference, labels, request } = call;
    const headers = request?.headers ?? noHeaders;
    const level = this.#levelOf({ caller, headers, store: inference.body.store });
    if (level === 'off' || store.isFull()) return undefined;
    return this.#capturedCall({
      caller,
      requestId,
      endpoint,
      user: labels.user,
      conversation: labels.conversation,
      headers,
      level,
      body: bodyOf(call),
    });
  }

  beginRequest({ labels, body, ...request }: CapturedRequest): CallCapture | undefined {
    const { settings, store } = this.#deps;
    if (settings.content === 'off') return undefined;
    const level = this.#levelOf({ ...request, store: undefined });
    if (level === 'off' || store.isFull()) return undefined;
    const { user, conversation } = labels;
    return this.#capturedCall({ ...request, user, conversation, level, body: withinBounds(body) });
  }

  /** A request for a model call failed. Of one that was rejected in the pipeline, `begin` had the content. */
  rejectedRequest({ caller, requestId, endpoint, headers, body, error }: FailedRequest): void {
    const wasRecorded = this.#recorded.has(requestId);
    if (!wasRecorded || caller.kind === 'anonymous' || caller.kind === 'token' || body === undefined) return;
    const { store } = (body ?? {}) as { store?: unknown };
    const level = this.#levelOf({ caller, headers, store });
    if (level === 'off') return;
    const path = endpoint?.path ?? '';
    const text = JSON.stringify(body);
    this.#capturedCall({
      caller,
      requestId,
      endpoint: path,
      user: this.#deps.userOf(headers, body),
      conversation: null,
      headers,
      level,
      body: withinBounds(text),
    }).rejected(error);
  }

  #levelOf({
    caller,
    headers,
    store,
  }: Pick<Beginning, 'caller' | 'headers'> & { store: unknown }): CaptureLevel {
    const { settings, hostWorkspaceId, workspaces } = this.#deps;
    return captureLevel({
      caller,
      settings,
      hostWorkspaceId: hostWorkspaceId(),
      workspaceLevel: workspaces.of(caller.workspaceId),
      header: headers['x-service-capture'],
      store,
    });
  }

  #capturedCall({ caller, headers, ...asked }: Beginning): CapturedCall {
    const { store, wires, world, errorText } = this.#deps;
    const { requestId, endpoint } = asked;
    const keyId = credentialId(caller);
    return new CapturedCall({
      store,
      isWire: wires.isOpen(caller.workspaceId, keyId),
      asked: {
        ...asked,
        workspaceId: caller.workspaceId,
        keyId,
        at: world.now(),
        headers: keptHeadersIn(headers),
      },
      elapsed: this.#elapsed,
      errorText: (error) => errorText(error, { requestId, endpoint, headers }),
      wasRecorded: this.#wasRecorded,
    });
  }

  /** A rejected call has a trace, so that its content is worth keeping. */
  onRecorded(requestId: string): void {
    if (this.#deps.settings.content !== 'off') this.#recorded.set(requestId, true);
  }
}

/** The body as it was received; of calls without a request of their own, as it was read. */
function bodyOf({ request, inference }: ModelCall): Uint8Array | string | undefined {
  return withinBounds(request?.rawBody ?? JSON.stringify(inference.body));
}

function withinBounds<T extends Uint8Array | string>(body: T): T | undefined {
  return body.length > bodyBytesMax ? undefined : body;
}
