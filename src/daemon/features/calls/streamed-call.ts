import { asApiError } from '../../../shared/errors.ts';
import { StreamReply } from '../../base/handler.ts';
import type { Route } from '../routing/index.ts';
import { relayStream, type StreamFormat } from './answer-call.ts';
import type { CallDeps } from './call-deps.ts';
import type { ModelCall } from './call-observer.ts';
import { errorType, type Settled, type StartedFailure } from './renderer.ts';
import { type FailedStart, type FormatOf, type RewriteAnswer, startCall } from './start-call.ts';
import { headerText } from './started-call.ts';

/** Renders the whole stream of a call that failed before its answer. */
export type RenderFailedStart = (
  failure: StartedFailure,
  settled: Settled | undefined,
) => string | Promise<string>;

export interface StreamOptions {
  rewrite?: RewriteAnswer | undefined;
  /**
   * Set for streams that may start before their answer, as proxies cut connections that are silent for long. Without it, a
   * stream starts with its answer, however long that takes.
   */
  renderFailedStart?: RenderFailedStart | undefined;
}

/**
 * Makes a call and answers it with a stream: the provider's batches, rendered. The settlement is on disk before the last
 * event, as the client may ask for the usage as soon as the stream ends. A client that leaves pays for what was generated.
 * Rejects for a call that no provider starts to answer, unless the stream has started before.
 */
export async function streamCall(
  deps: CallDeps,
  call: ModelCall,
  formatOf: FormatOf<StreamFormat>,
  { rewrite, renderFailedStart }: StreamOptions = {},
): Promise<StreamReply> {
  if (renderFailedStart) return await new StreamStart(deps, call, renderFailedStart).open(formatOf, rewrite);
  const { started, format, headers } = await startCall(deps, call, formatOf, { rewrite });
  return new StreamReply(headers, relayStream(deps, started, format));
}

/** A stream whose first text is there. */
interface Opened {
  headers: Record<string, string>;
  chunks: Resumed;
}

/** Starts a stream with its first text, or with nothing but headers once the provider has been silent for too long. */
class StreamStart {
  readonly #deps: CallDeps;
  readonly #call: ModelCall;
  readonly #renderFailed: RenderFailedStart;
  readonly #reply = Promise.withResolvers<StreamReply>();
  #failed: FailedStart | undefined;
  #isOpen = false;
  #endWait = (): void => {};

  constructor(deps: CallDeps, call: ModelCall, renderFailed: RenderFailedStart) {
    this.#deps = deps;
    this.#call = call;
    this.#renderFailed = renderFailed;
  }

  open(formatOf: FormatOf<StreamFormat>, rewrite: RewriteAnswer | undefined): Promise<StreamReply> {
    const { promise, resolve, reject } = this.#reply;
    const opening = this.#open(formatOf, rewrite, (routes) => this.#wait(routes, opening));
    opening.then(({ headers, chunks }) => resolve(new StreamReply(headers, chunks)), reject);
    return promise;
  }

  async #open(
    formatOf: FormatOf<StreamFormat>,
    rewrite: RewriteAnswer | undefined,
    onHeld: (routes: readonly Route[]) => void,
  ): Promise<Opened> {
    try {
      const onFailed = (failed: FailedStart) => {
        this.#failed = failed;
      };
      const { started, format, headers } = await startCall(this.#deps, this.#call, formatOf, {
        rewrite,
        onHeld,
        onFailed,
      });
      const chunks = relayStream(this.#deps, started, format);
      return { headers, chunks: new Resumed(await chunks.next(), chunks) };
    } finally {
      this.#isOpen = true;
      this.#endWait();
    }
  }

  #wait(routes: readonly Route[], opening: Promise<Opened>): void {
    if (this.#isOpen) return;
    const { silentStarts, settings } = this.#deps;
    this.#endWait = silentStarts.wait(settings.silentStartMs, () =>
      this.#reply.resolve(new StreamReply(knownHeaders(routes), this.#withoutAnswer(opening))),
    );
  }

  /** A stream that starts before its answer. Its failure is an event, as after any start. */
  async *#withoutAnswer(opening: Promise<Opened>): AsyncGenerator<string> {
    try {
      yield '';
      const failure = await opening.then(
        () => undefined,
        (error) => this.#failure(error),
      );
      if (failure === undefined) yield* (await opening).chunks;
      else yield failure;
    } finally {
      // The client may have left before the answer.
      await opening.then(
        ({ chunks }) => chunks.return(),
        () => {},
      );
    }
  }

  #failure(thrown: unknown): string | Promise<string> {
    if (this.#failed?.reason === 'client-left') return '';
    const error = asApiError(thrown);
    const { code, reportedCode, message, status } = error;
    if (code === 'server_error') this.#deps.log.warn({ err: error.cause ?? error }, 'an answer failed');
    const failure = { type: errorType(code), code: reportedCode, message, status };
    return this.#renderFailed(failure, this.#failed?.settled);
  }
}

/** The headers of a stream that starts before its answer: what is the same on all routes that are left to try. */
function knownHeaders(routes: readonly Route[]): Record<string, string> {
  const [first, ...others] = routes;
  if (!first) return {};
  const { provider, offer } = first;
  const headers: Record<string, string> = {};
  if (others.every((route) => route.offer.model === offer.model))
    headers['x-service-model'] = headerText(offer.model);
  if (others.every((route) => route.provider === provider)) headers['x-service-upstream'] = provider;
  return headers;
}

/** A stream whose first text was read. */
class Resumed implements AsyncIterableIterator<string> {
  #first: IteratorResult<string> | undefined;
  readonly #rest: AsyncGenerator<string>;

  constructor(first: IteratorResult<string>, rest: AsyncGenerator<string>) {
    this.#first = first;
    this.#rest = rest;
  }

  next(): Promise<IteratorResult<string>> {
    const first = this.#first;
    if (!first) return this.#rest.next();
    this.#first = undefined;
    return Promise.resolve(first);
  }

  return(): Promise<IteratorResult<string>> {
    return this.#rest.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
