import type { Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseDone } from '../../../../../shared/http/sse.ts';
import type { Answering, Output, Settled, StartedFailure, StreamRenderer } from '../../../calls/index.ts';
import type { Batch } from '../../../upstreams/neutral.ts';
import { EventWriter, ItemEvents } from './item-events.ts';
import { PassedEvents } from './passed-events.ts';
import { showResponse, showUsage } from './render.ts';

export interface ResponsesStreamOptions {
  /** The response object before the answer. */
  resource: Json;
  output: Output;
  answering: Answering;
  /** Whether the stream carries `service:*` events. */
  serviceEvents: boolean;
  /** Whether the client rejects events that OpenAI does not define. */
  strictEvents?: boolean;
  /** Whether the stream has started with `queuedEvents`. */
  wasQueued?: boolean;
  /** Whether sealed reasoning is shown. */
  sealed: boolean;
  /** Whether an error event carries the HTTP status, as on a WebSocket. */
  errorStatus?: boolean;
}

const queuedEventsCount = 2;

/** The first events of a queued background response. */
export function queuedEvents(resource: Json): string {
  const writer = new EventWriter();
  const response = { ...resource, status: 'queued' };
  return writer.write('response.created', { response }) + writer.write('response.queued', { response });
}

/** Renders a stream in the Responses format, from neutral events or from a provider's frames in the same format. */
export class ResponsesStream implements StreamRenderer {
  readonly #options: ResponsesStreamOptions;
  readonly #writer: EventWriter;
  readonly #items: ItemEvents;
  /** Undefined until the first frame: most answers are written from their events. */
  #passed: PassedEvents | undefined;
  #passing = false;
  /** Whether the provider's frames are no stream that clients can read, so that the answer is written from its events. */
  #hasDisorder = false;

  constructor(options: ResponsesStreamOptions) {
    const { output, sealed } = options;
    this.#options = options;
    this.#writer = new EventWriter({ first: options.wasQueued ? queuedEventsCount : 0 });
    this.#items = new ItemEvents(output, this.#writer, { sealed });
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
    this.#passed ??= this.#startPassing();
    if (!this.#hasDisorder && !this.#passed.order.accepts(batch.frames)) {
      this.#hasDisorder = true;
      if (this.#passing) this.#items.resume();
      this.#passing = false;
    }
    if (this.#hasDisorder) return this.#items.render(batch.events);
    this.#passing = true;
    for (const event of batch.events) this.#options.output.apply(event);
    return this.#passed.pass(batch.frames);
  }

  finish(settled: Settled): string {
    const status = settled.finish === 'stop' ? 'completed' : 'incomplete';
    if (this.#passing) {
      this.#items.resume();
      // What the provider left open, though its answer has ended.
      for (const item of this.#passed?.order.openOf(this.#options.output.items) ?? []) item.done = false;
    }
    const open = this.#items.close({ isCut: status === 'incomplete' });
    const response = this.#end('answered', settled);
    return open + this.#cost(settled) + this.#writer.write(`response.${status}`, { response }) + sseDone;
  }

  fail(failure: StartedFailure, settled: Settled | undefined): string {
    const ended = this.#items.endLast('completed');
    const response = this.#end('failed', settled, failure);
    const { errorStatus = false } = this.#options;
    const cost = this.#cost(settled);
    return ended + cost + failedEnd(this.#writer, { failure, response, errorStatus });
  }

  #startPassing(): PassedEvents {
    const { output, sealed, strictEvents = false } = this.#options;
    return new PassedEvents({ output, sealed, strictEvents, nextSequence: () => this.#writer.next() });
  }

  #end(status: 'answered' | 'failed', settled: Settled | undefined, error?: StartedFailure): Json {
    const { resource, output, sealed } = this.#options;
    return showResponse(resource, output, { status, settled, sealed, ...(error && { error }) });
  }

  #cost(settled: Settled | undefined): string {
    const { serviceEvents, answering } = this.#options;
    return serviceEvents && settled ? costEvent(this.#writer, answering.requestId, settled) : '';
  }
}

interface FailedStream {
  requestId: string;
  /** The response object before the answer, and after its failure. */
  resource: Json;
  response: Json;
  failure: StartedFailure;
  /** Undefined if the settlement could not be written. */
  settled: Settled | undefined;
  serviceEvents: boolean;
}

/** The whole stream of a call that failed before its answer. */
export function failedStream({
  requestId,
  resource,
  response,
  failure,
  settled,
  serviceEvents,
}: FailedStream): string {
  const writer = new EventWriter();
  const start =
    writer.write('response.created', { response: resource }) +
    writer.write('response.in_progress', { response: resource });
  const cost = serviceEvents && settled ? costEvent(writer, requestId, settled) : '';
  return start + cost + failedEnd(writer, { failure, response, errorStatus: false });
}

function costEvent(writer: EventWriter, requestId: string, { tokens, service }: Settled): string {
  return writer.write('service:cost', {
    request_id: requestId,
    usage: showUsage(tokens),
    cost: service.cost,
    charged_usd: service.charged_usd,
  });
}

function failedEnd(
  writer: EventWriter,
  { failure, response, errorStatus }: Pick<FailedStream, 'failure' | 'response'> & { errorStatus: boolean },
): string {
  const { type, code, message, status } = failure;
  const error = { type, code, message, param: null };
  return (
    writer.write('error', { ...(errorStatus && { status }), error }) +
    writer.write('response.failed', { response }) +
    sseDone
  );
}
