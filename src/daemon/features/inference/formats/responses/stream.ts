import { sseDone } from '../../../../../shared/sse.ts';
import { unixSeconds } from '../../../../../shared/time.ts';
import type { Json } from '../../fault.ts';
import type { Batch } from '../../neutral.ts';
import { type Output, showOutput } from '../../pipeline/output.ts';
import type { Answering, Settled, StartedFailure, StreamRenderer } from '../../pipeline/renderer.ts';
import { EventWriter } from './event-writer.ts';
import { ItemEvents } from './item-events.ts';
import { passFrames } from './pass-frames.ts';
import { endResource, showUsage } from './resource.ts';

export interface ResponsesStreamOptions {
  /** The response object as it stands at the start. */
  resource: Json;
  output: Output;
  answering: Answering;
  /** Whether `service:*` events are wanted. */
  serviceEvents: boolean;
  /** Whether the stream has started with `queuedEvents`. */
  wasQueued?: boolean;
  /** Whether sealed reasoning is shown. */
  sealed: boolean;
  /** Whether a failure tells its status, as each error on a socket does. */
  tellsStatus?: boolean;
}

const queuedEventsCount = 2;

/** How the stream of a response begins that waits in the background. */
export function queuedEvents(resource: Json): string {
  const writer = new EventWriter();
  const response = { ...resource, status: 'queued' };
  return writer.write('response.created', { response }) + writer.write('response.queued', { response });
}

/** A stream in the Responses format, from neutral events or from a provider's own frames of the same format. */
export class ResponsesStream implements StreamRenderer {
  readonly #options: ResponsesStreamOptions;
  readonly #writer: EventWriter;
  readonly #items: ItemEvents;
  #passing = false;

  constructor(options: ResponsesStreamOptions) {
    this.#options = options;
    this.#writer = new EventWriter({ first: options.wasQueued ? queuedEventsCount : 0 });
    this.#items = new ItemEvents(options.output, this.#writer, { sealed: options.sealed });
  }

  head(): string {
    const { resource, answering, serviceEvents, wasQueued } = this.#options;
    const created = wasQueued ? '' : this.#writer.write('response.created', { response: resource });
    const route = serviceEvents
      ? this.#writer.write('service:route', {
          request_id: answering.requestId,
          model: answering.model,
          provider: answering.provider,
          attempt: answering.attempt,
        })
      : '';
    return created + route + this.#writer.write('response.in_progress', { response: resource });
  }

  batch(batch: Batch): string {
    if (batch.frames === undefined) return this.#items.render(batch.events);
    this.#passing = true;
    const { output, sealed } = this.#options;
    for (const event of batch.events) output.apply(event);
    return passFrames(batch.frames, { output, sealed, nextSequence: () => this.#writer.next() });
  }

  finish(settled: Settled): string {
    const status = settled.finish === 'stop' ? 'completed' : 'incomplete';
    if (this.#passing) this.#items.resume();
    const open = this.#items.close({ isCut: status === 'incomplete' });
    const response = this.#end(status, settled);
    return open + this.#cost(settled) + this.#writer.write(`response.${status}`, { response }) + sseDone;
  }

  fail(failure: StartedFailure, settled: Settled | undefined): string {
    const { type, code, message, status } = failure;
    const ended = this.#items.endLast('completed');
    const response = this.#end('failed', settled, failure);
    const cost = this.#cost(settled);
    const error = this.#writer.write('error', {
      ...(this.#options.tellsStatus && { status }),
      error: { type, code, message, param: null },
    });
    return ended + cost + error + this.#writer.write('response.failed', { response }) + sseDone;
  }

  #end(status: 'completed' | 'incomplete' | 'failed', settled?: Settled, error?: StartedFailure): Json {
    const { resource, output, sealed } = this.#options;
    return endResource(resource, {
      status,
      ...(status === 'incomplete' && { incompleteReason: settled?.finish ?? 'max_output_tokens' }),
      ...(error && { error: { code: error.code, message: error.message } }),
      output: showOutput(output.items, { sealed, isCut: status === 'incomplete' }),
      tokens: settled?.tokens,
      completedAt: unixSeconds(settled?.completedAt ?? 0),
      service: settled?.service,
    });
  }

  #cost(settled: Settled | undefined): string {
    if (!this.#options.serviceEvents || !settled) return '';
    return this.#writer.write('service:cost', {
      request_id: this.#options.answering.requestId,
      usage: showUsage(settled.tokens),
      cost: settled.service.cost,
      charged_usd: settled.service.charged_usd,
    });
  }
}
