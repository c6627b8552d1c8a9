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
  'x-service-cost-usd':
    'What the answer cost, in dollars. Absent on streams, and where nobody knows the price.',
} as const;
