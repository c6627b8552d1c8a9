import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { AnyObject } from './vocabulary.ts';

/** In bytes: room for a long prompt. */
const messageBytesMax = 4 * 1024 * 1024;

const MessageId = Type.Union([Type.String(), Type.Integer(), Type.Null()]);

/** A message of the client. Source: the JSON-RPC 2.0 specification; batches left MCP with its revision 2025-06-18. */
export const McpMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(MessageId),
    method: Type.Optional(Type.String({ description: '`initialize`, `tools/list`, `tools/call`, …' })),
    params: Type.Optional(AnyObject),
    result: Type.Optional(AnyObject),
    error: Type.Optional(AnyObject),
  },
  { $id: 'McpMessage', additionalProperties: true, description: 'One JSON-RPC message; no batch.' },
);

/** A message of the daemon: a result, an error or a notification. */
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
          code: Type.Integer({ description: 'Of JSON-RPC, not of HTTP.' }),
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
 * Takes one message of an MCP client. Source: the Model Context Protocol, streamable HTTP, revisions 2025-03-26 to
 * 2026-07-28; errors: part 7 of the service description.
 */
export const callMcp = endpoint({
  id: 'callMcp',
  method: 'POST',
  path: '/mcp',
  summary: 'Send a message to the MCP server.',
  description: [
    'The Model Context Protocol over streamable HTTP, without sessions: each message stands alone, so `GET` and `DELETE`',
    'are answered with 405. A request is answered with JSON, or with server-sent events where it asked for progress; a',
    'notification with 202 and no body. What is wrong with a message is told as a JSON-RPC error: -32700 not JSON, -32600',
    'not a request, -32601 no such method, -32602 no such tool or bad arguments, -32002 no such resource. A tool that fails',
    'answers with a result that has `isError: true`. Tools do what the credential may do by the other endpoints.',
  ].join(' '),
  tag: 'MCP',
  access: { apiKey: 'plugins', login: 'any', token: '*', agent: true },
  surface: 'v1',
  body: McpMessage,
  bodyRequired: true,
  bodyLimit: messageBytesMax,
  ownFaults: McpAnswer,
  otherMethods: 'refused',
  result: McpAnswer,
  stream: { event: McpAnswer, done: false, always: false },
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'unavailable'],
});
