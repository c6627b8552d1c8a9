import type { CreateResponseBody, ResponseResource } from '../../../shared/contract/responses.ts';
import { createResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { RespondFlags } from './respond.ts';

/**
 * Has a response made and prints its id. It is begun as a stream that is left at once, so that its events are kept and
 * can be watched; with an idempotency key it is not, as streams are not kept for one.
 */
export async function beginInBackground(
  context: Context,
  flags: RespondFlags,
  body: CreateResponseBody,
): Promise<void> {
  const isStreamed = flags.stream !== false && flags.idempotencyKey === undefined;
  const headers = onceHeaders(flags);
  const queued = isStreamed
    ? await firstResponse(context, body)
    : await context.client().call(createResponse, { headers, body: { ...body, stream: false } });
  if (context.out.wantsJson()) await context.out.document(queued);
  else context.out.text(`${queued.id}\n`);
  context.out.note(`It is being made: gateway responses watch ${queued.id}`);
}

/** The header that makes a call happen once, if it is asked for. */
export function onceHeaders({ idempotencyKey }: Pick<RespondFlags, 'idempotencyKey'>) {
  return idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
}

async function firstResponse(context: Context, body: CreateResponseBody): Promise<ResponseResource> {
  const events = context.client().stream(createResponse, { headers: {}, body: { ...body, stream: true } });
  for await (const { data } of events) {
    const { response } = JSON.parse(data) as { response?: ResponseResource };
    if (response) return response;
  }
  throw new TypeError('a stream begins with its response');
}
