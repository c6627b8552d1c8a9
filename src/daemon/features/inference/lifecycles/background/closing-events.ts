import { isErrorCode } from '../../../../../shared/errors.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseDone } from '../../../../../shared/http/sse.ts';
import { errorType } from '../../../calls/index.ts';
import { EventWriter } from '../../formats/responses/item-events.ts';
import { endResource } from '../../formats/responses/render.ts';

/** A response that failed before its answer, or whose answer is lost. */
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

/** The response object of a run that its daemon did not finish. `queued` is JSON text. */
export function interruptedResponse(queued: string): Json {
  return failedResponse(JSON.parse(queued) as Json, {
    code: 'server_error',
    message: 'The daemon stopped before this response was finished.',
  });
}

/**
 * Builds the last events of a finished response from its object. A cancelled one ends with `response.incomplete`, as
 * clients know no event for cancellation.
 */
export function closingEvents(response: Json, first: number): string {
  const writer = new EventWriter({ first });
  const { status, error } = response;
  const details = isObject(error) ? error : undefined;
  const code = String(details?.code);
  const failure =
    status === 'failed'
      ? writer.write('error', {
          error: {
            type: isErrorCode(code) ? errorType(code) : 'server_error',
            code,
            message: details?.message,
            param: null,
          },
        })
      : '';
  const end = status === 'cancelled' ? 'incomplete' : status;
  return failure + writer.write(`response.${end}`, { response });
}

/** The response object (JSON text) of a stream's last chunk; undefined for any other chunk. */
export function responseOf(chunk: string): string | undefined {
  if (!chunk.endsWith(sseDone)) return undefined;
  const events = chunk.slice(0, -sseDone.length).trimEnd();
  const data = events.slice(events.lastIndexOf('\ndata: ') + '\ndata: '.length);
  return JSON.stringify((JSON.parse(data) as { response: Json }).response);
}
