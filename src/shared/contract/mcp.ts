import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { AnyObject, StrictObject } from './vocabulary.ts';

/** In bytes; enough for a long prompt. */
const messageBytesMax = 4 * 1024 * 1024;

const requestId = [
  Type.String(),
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
];
const RequestId = Type.Union(requestId);
const MessageId = Type.Union([...requestId, Type.Null()]);

const version = { jsonrpc: Type.Literal('2.0') };

/** A client message. Source: the JSON-RPC 2.0 specification; MCP dropped batches in revision 2025-06-18. */
export const McpMessage = Type.Union(
  [
    StrictObject({
      ...version,
      id: Type.Optional(RequestId),
      method: Type.String({ description: '`initialize`, `tools/list`, `tools/call`, …' }),
      params: Type.Optional(AnyObject),
    }),
    StrictObject({ ...version, id: RequestId, result: AnyObject }),
    StrictObject({
      ...version,
      id: Type.Optional(RequestId),
      error: Type.Object({
        code: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
        message: Type.String(),
      }),
    }),
  ],
  {
    $id: 'McpMessage',
    description:
      'A single JSON-RPC message: a request, a notification (without `id`) or a response. Batches are not supported.',
  },
);

/** A server message: a result, an error or a notification. */
export const McpAnswer = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(MessageId),
    method: Type.Optional(Type.String()),
    params: Type.Optional(AnyObject),
    result: Type.Optional(AnyObject),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Integer({ description: 'The JSON-RPC error code, not an HTTP status.' }),
          message: Type.String(),
          data: Type.Optional(Type.Unknown()),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { $id: 'McpAnswer', additionalProperties: true },
);

/**
 * Handles one message of an MCP client. Source: the Model Context Protocol, streamable HTTP, revisions 2025-03-26 to
 * 2026-07-28; errors: part 7 of the service description.
 */
export const callMcp = endpoint({
  id: 'callMcp',
  method: 'POST',
  path: '/mcp',
  summary: 'Send a message to the MCP server.',
  description: [
    'The Model Context Protocol over streamable HTTP, without sessions: each message stands alone, so `GET` and `DELETE`',
    'return 405. A request returns JSON, or server-sent events if it asks for progress; a notification returns 202',
    'without a body. Invalid messages return a JSON-RPC error: -32700 not JSON, -32600 not a request,',
    '-32601 unknown method, -32602 unknown tool or invalid arguments, -32002 unknown resource. A tool that fails',
    'returns a result with `isError: true`. Tools have the same permissions as the credential has elsewhere.',
  ].join(' '),
  tag: 'MCP',
  access: { apiKey: 'plugins', login: 'any', token: '*', agent: true },
  body: McpMessage,
  bodyRequired: true,
  bodyLimit: messageBytesMax,
  ownFaults: McpAnswer,
  result: McpAnswer,
  stream: { event: McpAnswer, done: false, always: false },
});
