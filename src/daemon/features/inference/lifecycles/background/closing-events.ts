import { isErrorCode } from '../../../../../shared/errors.ts';
import { sseDone } from '../../../../../shared/sse.ts';
import { isObject, type Json } from '../../fault.ts';
import { EventWriter } from '../../formats/responses/event-writer.ts';
import { endResource } from '../../formats/responses/resource.ts';
import { startedType } from '../../pipeline/renderer.ts';

/** A response that failed before anything was answered, or of which nothing is known any more. */
export function failedResponse(resource: Json, error: { code: string; message: string }): Json {
  return endResource(resource, {
    status: 'failed',
    error,
    output: [],
    tokens: undefined,
    completedAt: 0,
    service: undefined,
  });
}

/** What a response is told as whose daemon ended before it did. */
export function interruptedResponse(queued: string): Json {
  return failedResponse(JSON.parse(queued) as Json, {
    code: 'server_error',
    message: 'The daemon ended while this response was being made.',
  });
}

/**
 * The last events of a response that has ended, from its object alone. A cancelled one ends with `response.incomplete`,
 * whose response says so: there is no event of its own that clients know.
 */
export function closingEvents(response: Json, first: number): string {
  const writer = new EventWriter({ first });
  const { status, error } = response;
  const told = isObject(error) ? error : undefined;
  const code = String(told?.code);
  const failure =
    status === 'failed'
      ? writer.write('error', {
          error: {
            type: isErrorCode(code) ? startedType(code) : 'server_error',
            code,
            message: told?.message,
            param: null,
          },
        })
      : '';
  const end = status === 'cancelled' ? 'incomplete' : status;
  return failure + writer.write(`response.${end}`, { response });
}

/** The response object (JSON text) of the event that ends a stream; undefined for text from the middle of one. */
export function responseOf(chunk: string): string | undefined {
  if (!chunk.endsWith(sseDone)) return undefined;
  const events = chunk.slice(0, -sseDone.length).trimEnd();
  const data = events.slice(events.lastIndexOf('\ndata: ') + '\ndata: '.length);
  return JSON.stringify((JSON.parse(data) as { response: Json }).response);
}
