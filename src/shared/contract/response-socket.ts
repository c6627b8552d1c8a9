import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ErrorReply } from './error-reply.ts';
import { modelCallBodyLimit, socketErrors } from './model-call.ts';
import { ResponseEvent } from './response-events.ts';
import { CreateResponseRequest, somethingToAnswer } from './responses.ts';
import { mapOf, maybe } from './vocabulary.ts';

/** A client message on the socket: a create call. */
export const ResponseMessage = Type.Object(
  {
    type: Type.Literal('response.create'),
    ...CreateResponseRequest.properties,
    stream: maybe(Type.Boolean({ description: 'Ignored: the answer is always a stream of events.' })),
    generate: maybe(
      Type.Boolean({ description: '`false` prepares the context: nothing is generated or charged.' }),
    ),
    headers: maybe(
      mapOf({ maxLength: 64 }, Type.String({ maxLength: 65_536 }), {
        description:
          'Headers of this message: `payment-signature` or `payment-authorization`, to pay for it with an invoice of a rejected one.',
      }),
    ),
    stream_id: maybe(Type.String({ description: 'Rejected: a socket carries one response at a time.' })),
  },
  {
    ...somethingToAnswer,
    additionalProperties: true,
    description: 'One text frame sent by the client.',
  },
);

/** A rejected message. Its answer never started, so it has no sequence number. */
const SocketFailure = Type.Object(
  {
    type: Type.Literal('error'),
    status: Type.Integer({ description: 'The equivalent HTTP status.' }),
    error: Type.Object(
      {
        ...ErrorReply.properties.error.properties,
        headers: Type.Optional(
          Type.Record(Type.String(), Type.String(), { description: 'The equivalent HTTP headers.' }),
        ),
      },
      { additionalProperties: true },
    ),
  },
  { description: 'A rejected message.' },
);

/** Precedes the answer to a message that carried a payment. It has no sequence number. */
const PaymentEvent = Type.Object(
  {
    type: Type.Literal('service:payment'),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'The receipt: `payment-response` or `payment-receipt`.',
    }),
  },
  { description: 'The receipt of a payment.' },
);

/** Creates responses over a WebSocket. Source: the Open Responses specification, WebSocket. */
export const connectResponses = endpoint({
  id: 'connectResponses',
  method: 'GET',
  path: '/v1/responses',
  summary: 'Create responses over a WebSocket.',
  description: [
    'The handshake carries the credential. Each text frame of the client is a `response.create` message: the members',
    'of a create call with that `type`. Messages are processed in order, and up to 16 are queued. Each frame of the',
    'answer is one stream event; there is no `[DONE]`. The socket keeps the context of its latest response, so that',
    '`previous_response_id` continues it even with `store: false`. An error before the answer starts is a frame',
    '`{type: "error", status, error: {type, code, message, param}}`; the socket stays open. During an answer the frame',
    'also has a `sequence_number`, and `response.failed` follows. After 60 minutes the server sends',
    '`websocket_connection_limit_reached` and closes the socket. A plain `GET` is rejected.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  result: ResponseEvent,
  socket: {
    message: ResponseMessage,
    // Codex, after a compaction. Source: openai/codex#21642, korchasa/ai-ide-cli#9.
    unanswered: ['response.processed'],
    event: Type.Union([ResponseEvent, SocketFailure, PaymentEvent]),
    messageLimit: modelCallBodyLimit,
  },
  errors: socketErrors,
});
