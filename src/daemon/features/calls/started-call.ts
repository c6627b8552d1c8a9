import type { JsonObject } from '../../../shared/json/json-object.ts';
import type { Tokens } from '../../../shared/money/money.ts';
import type { OpenedRoute } from '../routing/index.ts';
import type { FinishReason } from '../upstreams/neutral.ts';
import type { Vector } from '../upstreams/upstream.ts';
import type { CallCapture } from './call-capture.ts';
import type { CancelReason } from './cancellation.ts';
import type { Meter } from './meter.ts';
import type { Output } from './output-items.ts';
import type { Settled } from './renderer.ts';

/** A call that a provider has started to answer. */
export interface StartedCall extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Reports the end of the answer to routing; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Undefined if its content is not kept. */
  capture: CallCapture | undefined;
  /** Stops the provider. */
  abort: AbortController;
  /** Why the call was canceled, if it was. */
  canceled: () => CancelReason | undefined;
  /** Stops watching for cancellation; to be called when the answer is over. */
  release: () => void;
}

/** A call that a provider answers, as a format sees it: it can render the answer, but neither settle nor end the call. */
export class AnsweredCall {
  readonly #started: StartedCall;

  constructor(started: StartedCall) {
    this.#started = started;
  }

  /** The catalog's id of the model. */
  get model(): string {
    return this.#started.route.offer.model;
  }

  get provider(): string {
    return this.#started.route.provider;
  }

  /** The provider's name of the model. */
  get providerModel(): string {
    return this.#started.route.providerModel;
  }

  /** The attempt that succeeded, counted from 1. */
  get attempt(): number {
    return this.#started.meter.attempts.length;
  }

  /** The answer so far, assembled from events. */
  get output(): Output {
    return this.#started.output;
  }

  /** A whole answer that is a document in the caller's format; undefined for one that is assembled from events. */
  get document(): JsonObject | undefined {
    const { answer } = this.#started;
    return answer.kind === 'json' ? answer.json : undefined;
  }

  /** The answer to a call for embeddings. */
  get vectors(): readonly Vector[] {
    const { answer } = this.#started;
    if (answer.kind !== 'embeddings') throw new TypeError('embeddings were requested');
    return answer.vectors;
  }

  get finish(): FinishReason {
    return this.#started.meter.finish;
  }

  /** The tokens so far, estimated until the provider reports them. */
  tokens(): Tokens {
    return this.#started.meter.tokens();
  }

  /** The headers of the answer. A stream has no cost yet. */
  headers(settled?: Settled): Record<string, string> {
    const { route, meter, answer } = this.#started;
    const headers: Record<string, string> = {
      // Those of the host's account are not the caller's business.
      ...(route.ownKey && answer.rateLimits),
      'x-service-model': headerText(route.offer.model),
      'x-service-upstream': route.provider,
    };
    if (route.kind === 'cache') headers['x-service-cache'] = 'hit';
    else if (route.cacheMiss) headers['x-service-cache'] = 'miss';
    if (meter.dropped.length > 0)
      headers['x-service-dropped'] = headerText(meter.dropped.map(({ param }) => param).join(', '));
    const [wait] = meter.waits;
    if (wait !== undefined) {
      headers['x-service-queue-ms'] = String(meter.waits.reduce((sum, { ms }) => sum + ms, 0));
      headers['x-service-queue-position'] = String(wait.position);
    }
    const cost = settled?.service.cost;
    if (cost) headers['x-service-cost-usd'] = cost.total_usd;
    return headers;
  }
}

/** Headers hold printable ASCII only; other characters of a model's name are percent-encoded. */
export function headerText(name: string): string {
  return name.toWellFormed().replace(/[^\x20-\x7e]/gu, encodeURIComponent);
}
