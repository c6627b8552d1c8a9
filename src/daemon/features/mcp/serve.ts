import {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  specTypeSchemas,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../shared/json/json-object.ts';
import { actingUser, RelayReply, StreamReply } from '../../base/handler.ts';
import type { Sender } from '../../base/inner-calls.ts';
import { valueIn } from './arguments.ts';
import type { McpDeps } from './deps.ts';
import { askFor } from './inner-call.ts';
import { resourcesFor, serverFor } from './server.ts';

export interface McpCall {
  sender: Sender;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

type Message = Record<string, unknown> & { id?: unknown; method?: unknown; params?: Record<string, unknown> };

/** Error codes. Source: the JSON-RPC 2.0 specification, and part 7 of the service description. */
const codes = { notJson: -32700, notARequest: -32600, badParams: -32602, noSuchResource: -32002 } as const;

/** Answers one message of a client, as JSON or as a stream. */
export async function serveMessage(deps: McpDeps, call: McpCall): Promise<RelayReply | StreamReply> {
  let message: Message | undefined;
  try {
    message = completed(deps.parse(call.body), deps) as Message | undefined;
  } catch (error) {
    return refusal(400, codes.notJson, (error as Error).message);
  }
  if (message === undefined) return refusal(400, codes.notJson, 'The message is missing.');
  if (!isJSONRPCRequest(message) && !isJSONRPCNotification(message) && !isJSONRPCResponse(message)) {
    return refusal(400, codes.notARequest, notARequest(message), { id: idOf(message) });
  }
  return refusedParams(deps, call.sender, message) ?? (await relay(await answerMessage(deps, call, message)));
}

/** What old clients leave out of `initialize`; the revision is the one that is meant where none is named. */
const usualStart = {
  protocolVersion: '2025-03-26',
  capabilities: {},
  clientInfo: { name: 'unknown', version: '0' },
};

/**
 * A message without the null that some clients write for what is absent, also where a model left out an argument, and with arguments
 * that are a text of JSON. Source: chaitin/MonkeyCode#1268, KeeperHub/keeperhub#2108, anthropics/claude-code#95239.
 */
function completed(message: unknown, { parse }: Pick<McpDeps, 'parse'>): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const given = withoutNull(params);
  if (typeof given.arguments === 'string')
    given.arguments = valueIn(given.arguments || '{}', ['object'], (text) => parse(Buffer.from(text)));
  for (const name of ['arguments', 'capabilities'])
    if (isObject(given[name])) given[name] = withoutNull(given[name]);
  return { ...rest, params: message.method === 'initialize' ? { ...usualStart, ...given } : given };
}

function withoutNull(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function notARequest(message: unknown): string {
  if (Array.isArray(message)) return 'Send one message at a time: batches are not supported.';
  return 'This is not a JSON-RPC 2.0 request: it must have `jsonrpc`, `method`, an `id` that is a string or an integer, and optional `params` as an object.';
}

function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as Message;
  return typeof id === 'string' || Number.isInteger(id) ? (id as string | number) : null;
}

/** The schemas of requests; the library rejects methods that are not listed. */
const requests = {
  initialize: specTypeSchemas.InitializeRequest,
  ping: specTypeSchemas.PingRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
  'resources/list': specTypeSchemas.ListResourcesRequest,
  'resources/templates/list': specTypeSchemas.ListResourceTemplatesRequest,
  'resources/read': specTypeSchemas.ReadResourceRequest,
} as const;

/** Checks what the library reports with other codes: invalid parameters, and missing resources. */
function refusedParams(deps: McpDeps, sender: Sender, message: Message): RelayReply | undefined {
  const { method, params = {}, id } = message;
  if (id === undefined || typeof method !== 'string' || !Object.hasOwn(requests, method)) return undefined;
  const checked = requests[method as keyof typeof requests]['~standard'].validate(message);
  const issue = checked instanceof Promise ? undefined : checked.issues?.[0];
  if (issue !== undefined) {
    const place = (issue.path ?? [])
      .map((part) => String(typeof part === 'object' ? part.key : part))
      .join('.');
    return refusal(200, codes.badParams, `\`${place}\`: ${issue.message}`, { id });
  }
  if (method !== 'resources/read') return undefined;
  const { uri } = params;
  if (resourcesFor(askFor(deps.calls, sender)).some((resource) => resource.uri === uri)) return undefined;
  return refusal(200, codes.noSuchResource, `There is no resource ${uri}.`, { id, data: { uri } });
}

/**
 * Answers clients of revisions up to 2025-11-25 without a session: as JSON, which all support, unless they request
 * progress.
 */
async function answerMessage(deps: McpDeps, call: McpCall, message: Message): Promise<Response> {
  const request = requestOf(call, message);
  const server = () => serverFor(deps, call.sender);
  if (!(await isLegacyRequest(request, message))) {
    const handler = createMcpHandler(server, { legacy: 'reject', keepAliveMs: 0 });
    return await handler.fetch(request, { parsedBody: message });
  }
  const meta = message.params?._meta as { progressToken?: unknown } | undefined;
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: meta?.progressToken === undefined,
    keepAliveMs: 0,
  });
  await server().connect(transport);
  return await transport.handleRequest(request, { parsedBody: message });
}

/**
 * The message as a request for the library, which accepts both forms of an answer. Only subscriptions need the signal:
 * everything else ends by itself, since the called endpoint watches the same signals and can report the reason.
 */
function requestOf({ headers, sender }: McpCall, message: Message): Request {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] => /^mcp-/.test(entry[0]) && typeof entry[1] === 'string',
  );
  const isEndless = message.method === 'subscriptions/listen';
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      ...Object.fromEntries(kept),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
    ...(isEndless && { signal: AbortSignal.any([sender.signal, actingUser(sender.caller).revoked]) }),
  });
}

async function relay(response: Response): Promise<RelayReply | StreamReply> {
  const { body, headers, status } = response;
  const type = headers.get('content-type');
  if (body !== null && type?.startsWith('text/event-stream')) {
    return new StreamReply({}, body.pipeThrough(new TextDecoderStream()));
  }
  return new RelayReply(type === null ? {} : { 'content-type': type }, await response.text(), status);
}

function refusal(
  status: number,
  code: number,
  message: string,
  { id = null, data }: { id?: unknown; data?: object } = {},
): RelayReply {
  const error = { code, message, ...(data && { data }) };
  return new RelayReply({}, JSON.stringify({ jsonrpc: '2.0', id, error }), status);
}
