import { Type } from 'typebox';
import {
  labelCharactersMax,
  labelHeaderPattern,
  requestIdPattern,
  tagsHeaderPattern,
  tagsMax,
} from '../constants/call-labels.ts';

/** Definitions shared by model calls of all formats. */

export const ModelName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A model id, an unambiguous suffix of one (`gpt-5`), or `PROVIDER/NAME`.',
});

/** Errors of model calls in any format. */
export const modelCallErrors = [
  'unknown_call_id',
  'context_length_exceeded',
  'unsupported_value',
  'insufficient_balance',
  'payment_required',
  'payment_refused',
  'model_not_found',
  'rate_limited',
  'model_error',
  'upstream_failed',
  'no_route',
] as const;

/** Model calls may contain images and long agent histories. */
export const modelCallBodyLimit = 32 * 1024 * 1024;

/** Headers of a successful model call. */
export const modelCallHeaders = {
  'x-service-model': 'The model that answered; characters outside ASCII are percent-encoded.',
  'x-service-upstream': 'The provider that answered.',
  'x-service-dropped':
    'Parts of the request that the provider’s format cannot express or that money does not cover, and that were left out or reduced: `tools[3], text.verbosity`.',
  'x-service-queue-ms':
    'How long the call waited until limits of concurrent calls let it go on, in milliseconds; absent if it did not wait.',
  'x-service-queue-position': 'Its position in the queue when it began to wait, counted from 1.',
  'x-service-cache': '`hit` or `miss`, for calls that use the response cache.',
  'x-service-cost-usd':
    'The cost of the answer in dollars, also when your own provider key paid it: `service.charged_usd` is 0 then. Absent on streams and when the price is unknown.',
  'x-ratelimit-remaining-requests':
    'With your own provider key: the limits of your account there, like all headers of the provider named `x-ratelimit-…`, `anthropic-ratelimit-…` and `ratelimit-…`.',
  'payment-response': 'The receipt of a payment by `PAYMENT-SIGNATURE` (x402).',
  'payment-receipt': 'The receipt of a payment by a `Payment` credential.',
} as const;

export const idempotencyKeyCharactersMax = 128;

/** A key, with or without the quotes of a structured field, which are not part of it. */
export const idempotencyKeyPattern = `^("[!-~]{1,${idempotencyKeyCharactersMax}}"|[!-~]{1,${idempotencyKeyCharactersMax}})$`;

/** The request header that makes a call idempotent. */
export const OnceHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: idempotencyKeyPattern,
      description: [
        `1 to ${idempotencyKeyCharactersMax} visible ASCII characters. Repeating a request with the same key and body within 24 hours returns the first`,
        'answer, waiting for it if necessary; a different body is rejected. Keys are scoped to the API key or login. Only',
        'answers with status 200 are stored, and a call with a key continues if its client disconnects. Streams are not stored.',
      ].join(' '),
    }),
  ),
});

/** The request headers that label a model call; the same labels can be members of `service`. */
export const LabelHeaders = Type.Object({
  'x-service-user': Type.Optional(
    Type.String({
      pattern: labelHeaderPattern,
      description: `The end user for whom the call is made, at most ${labelCharactersMax} characters; kept on the call and in usage. Default: the \`user\`, \`safety_identifier\` or \`metadata.user_id\` of the body.`,
    }),
  ),
  'x-service-conversation': Type.Optional(
    Type.String({
      pattern: labelHeaderPattern,
      description: `The conversation that the call belongs to, at most ${labelCharactersMax} characters. Default: its thread, or the session that a coding agent names in \`metadata.user_id\`.`,
    }),
  ),
  'x-service-tags': Type.Optional(
    Type.String({
      pattern: tagsHeaderPattern,
      description: `At most ${tagsMax} tags to find the call and to group usage by: \`team=search,job=7\`.`,
    }),
  ),
  'x-service-replay-of': Type.Optional(
    Type.String({ pattern: requestIdPattern, description: 'The id of the request that this call repeats.' }),
  ),
});

/** The request headers of a model call. */
export const CallHeaders = Type.Object({ ...OnceHeaders.properties, ...LabelHeaders.properties });

/** Headers of a replayed answer. */
export const idempotencyHeaders = {
  'idempotent-replayed': '`true` if this answer was already returned for the same Idempotency-Key.',
  'x-service-replay-of': 'The id of the original request.',
} as const;

/** Errors of a message on a socket. */
export const socketErrors = [
  ...modelCallErrors,
  'invalid_json',
  'previous_response_not_found',
  'conflict',
  'websocket_connection_limit_reached',
] as const;
