import { Type } from 'typebox';

/** What model calls of both formats have in common. */

export const ModelName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'An id of the list of models, a name that ends one (`gpt-5`), or `PROVIDER/NAME`.',
});

/** What a model call may be answered with, in either format. */
export const modelCallErrors = [
  'invalid_request',
  'invalid_json',
  'unknown_call_id',
  'context_length_exceeded',
  'unsupported_value',
  'unauthenticated',
  'insufficient_balance',
  'out_of_scope',
  'limit_reached',
  'model_not_found',
  'limit_exceeded',
  'rate_limited',
  'server_error',
  'model_error',
  'upstream_failed',
  'no_route',
  'unavailable',
] as const;

/** Model calls carry images and long agent histories. */
export const modelCallBodyLimit = 32 * 1024 * 1024;

/** Headers of a successful model call. */
export const modelCallHeaders = {
  'x-service-model': 'The model that answered; what is not ASCII in its name is encoded as in a URL.',
  'x-service-upstream': 'The provider that answered.',
  'x-service-cache': '`hit` or `miss`, on calls that want an answer from the cache.',
  'x-service-cost-usd':
    'What the answer cost, in dollars: 0 on a provider key of your own. Absent on streams, and where nobody knows the price.',
} as const;

/** The request header that makes a call happen once. */
export const OnceHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 130,
      description: [
        '1 to 128 visible ASCII characters. The same key and body, sent again within 24 hours, get the first answer,',
        'also while it is being made; with another body they are refused. It belongs to the API key or login. Only',
        'answers with status 200 are kept, and a call with a key runs on when its client leaves. Streams are not kept.',
      ].join(' '),
    }),
  ),
});

/** Headers of an answer that is given again. */
export const idempotencyHeaders = {
  'idempotent-replayed': '`true` where the answer was given before, to a call with the same Idempotency-Key.',
  'x-service-replay-of': 'The request that was answered first.',
} as const;

/** What a call with an Idempotency-Key may be answered with, beside its own. */
export const idempotencyErrors = ['idempotency_conflict', 'conflict'] as const;

/** What a create call of either format may be answered with: it may be made once, and in a thread. */
export const createCallErrors = [...modelCallErrors, ...idempotencyErrors, 'not_found'] as const;

/** What a message on a socket may be answered with. */
export const socketErrors = [
  ...modelCallErrors,
  'previous_response_not_found',
  'not_found',
  'conflict',
  'websocket_connection_limit_reached',
] as const;
