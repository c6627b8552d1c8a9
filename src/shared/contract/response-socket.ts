import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ErrorReply } from './error-reply.ts';
import { modelCallBodyLimit, socketErrors } from './model-call.ts';
import { ResponseEvent } from './response-events.ts';
import { CreateResponseBody } from './responses.ts';
import { maybe } from './vocabulary.ts';

/** A message of a client on the socket: a create call. */
export const ResponseMessage = Type.Object(
  {
    type: Type.Literal('response.create'),
    ...CreateResponseBody.properties,
    stream: maybe(Type.Boolean({ description: 'Of no effect: the answer is always events.' })),
    generate: maybe(
      Type.Boolean({ description: '`false` prepares the context: nothing is generated or charged.' }),
    ),
    stream_id: maybe(Type.String({ description: 'Refused: one socket carries one response at a time.' })),
  },
  { additionalProperties: true, description: 'One text frame of the client.' },
);

/** A message that was refused: its answer has not begun, so it has no place among the events of one. */
const SocketFailure = Type.Object(
  {
    type: Type.Literal('error'),
    status: Type.Integer({ description: 'As HTTP would have it.' }),
    error: Type.Object(
      {
        ...ErrorReply.properties.error.properties,
        headers: Type.Optional(
          Type.Record(Type.String(), Type.String(), { description: 'What HTTP would say in headers.' }),
        ),
      },
      { additionalProperties: true },
    ),
  },
  { description: 'A message that was refused.' },
);

/** Answers model calls in the Responses format over a WebSocket. Source: the Open Responses specification, WebSocket. */
export const connectResponses = endpoint({
  id: 'connectResponses',
  method: 'GET',
  path: '/v1/responses',
  summary: 'Create responses over a WebSocket.',
  description: [
    'The credential is that of the handshake. Each text frame of the client is a `response.create` message: the members',
    'of a create call with that `type`. Messages are answered one after another, and up to 16 wait. Each frame of the',
    'answer is one event of a stream; there is no `[DONE]`. The socket keeps the context of its latest response, so that',
    '`previous_response_id` continues it even with `store: false`. A failure before the answer begins is a frame',
    '`{type: "error", status, error: {type, code, message, param}}`; the socket stays open. In the middle of an answer',
    'that frame has a `sequence_number` too, and `response.failed` follows. After 60 minutes the socket is told',
    '`websocket_connection_limit_reached` and closed. A plain `GET` is refused.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  result: ResponseEvent,
  socket: {
    message: ResponseMessage,
    event: Type.Union([ResponseEvent, SocketFailure]),
    messageLimit: modelCallBodyLimit,
  },
  errors: socketErrors,
});
