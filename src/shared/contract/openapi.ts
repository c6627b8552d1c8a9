import type { TSchema } from 'typebox';
import { type ErrorCode, failures } from '../errors.ts';
import { inWords } from '../text/in-words.ts';
import { apiDescription, tagDescriptions } from './api-texts.ts';
import type { Access, Endpoint, Surface } from './endpoint.ts';
import { ErrorReply, MessagesError, SiteError, SiteInvalid, statusOf } from './error-reply.ts';
import { type JsonSchema, type SchemaNames, takeOutNames } from './schema.ts';

export interface OpenApiOptions {
  /** The version of the API, not of the program. */
  version: string;
  /** Server addresses; default: the address the description was fetched from. */
  servers?: readonly string[];
}

/** Describes endpoints as OpenAPI 3.1.0. Source: the OpenAPI specification, version 3.1.0. */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  options: OpenApiOptions,
): Record<string, unknown> {
  const found = new Map<string, JsonSchema>();
  const names = {
    pointer: '#/components/schemas/',
    moveNamed: true,
    prefixItems: true,
    typedEnums: true,
    found,
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\.\.\.\}$/, '}');
    const operations = paths[path] ?? {};
    operations[endpoint.method.toLowerCase()] = operation(endpoint, names);
    paths[path] = operations;
  }
  const used = new Set<string>(endpoints.map(({ tag }) => tag));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gateway',
      version: options.version,
      description: apiDescription,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: (options.servers ?? ['/']).map((url) => ({ url })),
    // In the order of their descriptions: what most readers look for comes first.
    tags: Object.entries(tagDescriptions)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: commonHeaders,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, a login key or, on the site API, an access token.',
        },
      },
    },
  };
}

const commonHeaders = {
  'x-request-id': {
    description: 'The id of this request: `req_…`.',
    required: true,
    schema: { type: 'string' },
  },
  'x-service-version': { description: 'The version of the daemon.', schema: { type: 'string' } },
  'x-service-key-expires': {
    description: 'When the secret of this request stops working, if its key was rotated; use the new one.',
    schema: { type: 'string', format: 'date-time' },
  },
  'retry-after': { description: 'Seconds to wait before retrying.', schema: { type: 'integer', minimum: 0 } },
  'x-should-retry': {
    description:
      '`false` if retrying the same request will not help; `true` with a status that clients would not retry on their own.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'www-authenticate': { description: 'The scheme to use.', schema: { type: 'string', const: 'Bearer' } },
};

/** Of a 402 with an invoice. */
const offerHeaders = {
  'payment-required': { description: 'What to pay (x402, version 2).', schema: { type: 'string' } },
  'www-authenticate': { description: 'A `Payment` challenge.', schema: { type: 'string' } },
};

function header(name: keyof typeof commonHeaders) {
  return { [name]: { $ref: `#/components/headers/${name}` } };
}

const everyAnswer = {
  ...header('x-request-id'),
  ...header('x-service-version'),
  ...header('x-service-key-expires'),
};

/** Every error code an endpoint can return, in the order of the list of failures. */
export function answerableCodes(endpoint: Endpoint): ErrorCode[] {
  const codes = new Set([...(endpoint.errors ?? []), ...derivedCodes(endpoint)]);
  return (Object.keys(failures) as ErrorCode[]).filter((code) => codes.has(code));
}

/** The codes that follow from who may call an endpoint and with what. */
export function derivedCodes({ access, method, params, headers }: Endpoint): ErrorCode[] {
  const { properties = {} } = (headers ?? {}) as { properties?: object };
  const onlyIf = (condition: unknown, ...codes: ErrorCode[]) => (condition ? codes : []);
  return [
    // An expired or paused key is rejected even where none is required.
    ...([
      'invalid_request',
      'unauthenticated',
      'limit_reached',
      'key_paused',
      'host_not_allowed',
      'origin_not_allowed',
    ] as const),
    // An unexpected body is rejected by its headers.
    ...(['headers_too_large', 'limit_exceeded', 'unsupported_media_type', 'request_timeout'] as const),
    ...(['server_error', 'unavailable'] as const),
    // A login that names a workspace it does not belong to.
    ...onlyIf(params || access.login, 'not_found'),
    ...onlyIf(method !== 'GET', 'invalid_json'),
    ...onlyIf(access.loginOnly, 'signed_out'),
    ...onlyIf(access.apiKey !== undefined && access.apiKey !== 'any', 'out_of_scope'),
    ...onlyIf(!access.anonymous, 'permission'),
    ...onlyIf(access.anonymous === true, 'rate_limited'),
    ...onlyIf(Object.hasOwn(properties, 'Idempotency-Key'), 'idempotency_conflict', 'conflict'),
  ];
}

function operation(endpoint: Endpoint, names: SchemaNames): Record<string, unknown> {
  const { access, body, socket } = endpoint;
  const parameters = parametersOf(endpoint, names);
  const scopes = access.apiKey === undefined || access.apiKey === 'any' ? [] : [access.apiKey].flat();
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    description: [endpoint.description, accessSentence(access)].filter(Boolean).join('\n\n'),
    tags: [endpoint.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: endpoint.bodyRequired !== false,
        content: { 'application/json': { schema: takeOutNames(body, names) } },
      },
    }),
    responses: { ...succeeded(endpoint, names), ...failed(endpoint, names) },
    ...(socket && {
      // OpenAPI does not cover messages after the handshake.
      'x-websocket': {
        message: takeOutNames(socket.message, names),
        event: takeOutNames(socket.event, names),
      },
    }),
    security: access.anonymous ? [{}, { bearer: [] }] : [{ bearer: [] }],
    ...(scopes.length > 0 && { 'x-scopes': scopes }),
    ...(access.token && access.token !== 'any' && { 'x-ability': access.token }),
    ...(access.login && { 'x-login-role': access.login }),
    ...(access.loginOnly && { 'x-login-only': true }),
  };
}

function parametersOf(endpoint: Endpoint, names: SchemaNames): unknown[] {
  const of = (place: 'path' | 'query' | 'header', schema: TSchema | undefined) => {
    const { properties, required } = (schema ?? {}) as {
      properties?: Record<string, TSchema>;
      required?: string[];
    };
    return Object.entries(properties ?? {}).map(([name, property]) => {
      const { description, ...plain } = takeOutNames(property, names) as JsonSchema;
      return {
        name,
        in: place,
        required: place === 'path' || (required ?? []).includes(name),
        ...(description !== undefined && { description }),
        schema: plain,
      };
    });
  };
  const own = [
    ...of('path', endpoint.params),
    ...of('query', endpoint.query),
    ...of('header', endpoint.headers),
  ];
  const paying = endpoint.payable ? [...own, ...paymentHeaders] : own;
  return actsInWorkspace(endpoint) ? [...paying, workspaceHeader] : paying;
}

/** Not validated, so that calls without a payment cost nothing; a malformed one is a 402. */
const paymentHeaders = Object.entries({
  'PAYMENT-SIGNATURE': 'The payment for an offer in `PAYMENT-REQUIRED` (x402, version 2).',
  'Payment-Authorization':
    'A `Payment` credential for the challenge in `WWW-Authenticate`. In `Authorization` it stands in for the key.',
}).map(([name, description]) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
}));

const workspaceHeader = {
  name: 'X-Workspace-Id',
  in: 'header',
  required: false,
  description: 'The workspace the login acts in, by id or slug; default: its own.',
  schema: { type: 'string' },
};

/** Public and owner-only endpoints do not depend on the workspace. */
function actsInWorkspace({ access, surface }: Endpoint): boolean {
  return surface !== 'site' && !access.anonymous && access.login !== undefined && access.login !== 'owner';
}

function succeeded(endpoint: Endpoint, names: SchemaNames): Record<string, unknown> {
  if (!endpoint.socket) return { 200: success(endpoint, names) };
  return { 101: { description: 'The connection is now a WebSocket.', headers: everyAnswer } };
}

function success(endpoint: Endpoint, names: SchemaNames): Record<string, unknown> {
  const { stream, responseHeaders } = endpoint;
  const content: Record<string, unknown> = {};
  if (!stream?.always) {
    for (const type of [endpoint.contentType ?? 'application/json'].flat())
      content[type] = { schema: takeOutNames(endpoint.result, names) };
  }
  if (stream) {
    // The schema of one `data:` line: OpenAPI 3.1 cannot describe a sequence.
    content['text/event-stream'] = {
      schema: takeOutNames(stream.event, names),
      ...(stream.done && { 'x-last-line': 'data: [DONE]' }),
    };
  }
  const headers: Record<string, unknown> = { ...everyAnswer };
  for (const [name, description] of Object.entries(responseHeaders ?? {})) {
    headers[name] = { description, schema: { type: 'string' } };
  }
  const description = stream?.always
    ? 'A stream.'
    : stream
      ? 'The result, as JSON or as a stream.'
      : 'The result.';
  return { description, headers, content };
}

function failed(endpoint: Endpoint, names: SchemaNames): Record<string, unknown> {
  const codesByStatus = new Map<number, ErrorCode[]>();
  for (const code of answerableCodes(endpoint)) {
    const status = statusOf({ code }, endpoint.surface);
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
  }
  const responses: Record<string, unknown> = {};
  for (const [status, codes] of [...codesByStatus].sort(([a], [b]) => a - b)) {
    const usual = errorSchema(endpoint.surface, status);
    const hasOwn = endpoint.ownFaults && (status === 400 || status === 404);
    const schema = hasOwn ? { anyOf: [usual, endpoint.ownFaults] } : usual;
    const canWait = codes.some(
      (code) => failures[code].retry === 'after-waiting' || code === 'limit_reached' || code === 'no_route',
    );
    responses[status] = {
      description: codes.map((code) => `\`${code}\`: ${failures[code].message}`).join(' '),
      headers: {
        ...everyAnswer,
        ...(canWait && header('retry-after')),
        ...(codes.some((code) => failures[code].retry !== 'after-waiting') && header('x-should-retry')),
        ...(status === 401 && header('www-authenticate')),
        ...(status === 402 && endpoint.payable && offerHeaders),
      },
      content: { 'application/json': { schema: takeOutNames(schema, names) } },
    };
  }
  return responses;
}

function errorSchema(surface: Surface, status: number): TSchema {
  // Rejected while its headers arrive, when its path is not known yet.
  if (status === failures.headers_too_large.status) return ErrorReply;
  if (surface === 'messages') return MessagesError;
  if (surface === 'v1') return ErrorReply;
  return status === 422 ? SiteInvalid : SiteError;
}

/** Describes in one sentence who may call an endpoint. */
function accessSentence({ anonymous, apiKey, login, token, loginOnly }: Access): string {
  if (anonymous) return 'No credential is required.';
  const loginKey = `a login key${login === undefined || login === 'any' ? '' : ` of ${roles[login]}`}`;
  if (loginOnly) return `Requires ${loginKey}; API keys are not accepted.`;
  const scopes = apiKey === undefined || apiKey === 'any' ? [] : [apiKey].flat();
  const scope = scopes.length === 0 ? '' : ` with the scope ${inWords(scopes.map((it) => `\`${it}\``))}`;
  const kinds = [
    ...(apiKey === undefined ? [] : [`an API key${scope}`]),
    ...(login === undefined ? [] : [loginKey]),
    ...(token === undefined
      ? []
      : [`an access token${token === 'any' ? '' : ` with ${abilityWords(token)}`}`]),
  ];
  return `Needs ${kinds.join(', or ')}.`;
}

const abilityWords = (token: string) =>
  token === '*' ? 'the ability `*`' : `the ability \`${token}\` or \`*\``;

const roles = { owner: 'the owner', admin: 'an owner or admin', member: 'a member' } as const;
