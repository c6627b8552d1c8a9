import { type Static, type TSchema, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { idempotencyHeaders, OnceHeaders } from './model-call.ts';
import { dataOf, pageOf, pageQuery, RowId } from './site.ts';
import { mapOf, maybe, nullable, StrictObject, Timestamp } from './vocabulary.ts';
import { msats } from './wallet.ts';

/** Paywalls: paths of this host's reverse proxy whose requests cost Lightning payments. */

const paywallStatuses = ['active', 'paused', 'deleted'] as const;
const paywallMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const authSchemes = ['l402', 'mpp', 'l402+mpp'] as const;
const exportFormats = ['caddy', 'nginx', 'aperture'] as const;

/** The highest price, in satoshis: a hundredth of a safe integer of millisatoshis, so that sums stay exact. */
const priceMax = 90_000_000_000;

const segment = '[A-Za-z0-9._~-]+';
/** Segments without escapes, none of which is `.` or `..`; no trailing slash. */
const pathPattern = `^(/|(/(?!\\.{1,2}(/|$))${segment})+)$`;
const freePathPattern = `^(/(?!\\.{1,2}(/|$))${segment})*(/|/\\*)?$`;
const hostPattern =
  '^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$';
const label = { minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]*$' } as const;

const MatchView = {
  host: nullable(Type.String({ description: 'Only requests to this host name; null for any.' })),
  pathPrefix: Type.String({ description: 'Only paths that are this one or below it: `/weather`.' }),
  methods: Type.Array(Type.String(), { description: 'Only requests with these methods; empty for any.' }),
};

const UpstreamView = {
  url: Type.String({ description: 'The server behind the paywall: `http://127.0.0.1:9000`.' }),
  rewritePrefix: nullable(
    Type.String({
      description: 'Replaces `pathPrefix` in paths that are sent upstream; null leaves them unchanged.',
    }),
  ),
  headers: Type.Record(Type.String(), Type.String(), {
    description:
      'The headers that are added to requests: of each value its fingerprint, as the values themselves are never shown.',
  }),
  timeoutMs: Type.Integer({ description: 'How long the upstream may take to start its response.' }),
};

const TokenView = {
  timeoutSeconds: Type.Integer({ description: 'How long a token is valid, from the invoice on.' }),
  maxUses: nullable(
    Type.Integer({ description: 'How many requests one payment buys; null for any number in that time.' }),
  ),
  capabilities: Type.Array(Type.String(), {
    description: 'What a token allows, for the upstream to check; sent as `x-paywall-capabilities`.',
  }),
  constraints: Type.Record(Type.String(), Type.String(), {
    description: 'More caveats of its tokens, for the upstream to check; sent as `x-paywall-constraints`.',
  }),
};

const RateLimitView = {
  requests: Type.Integer(),
  perSeconds: Type.Integer(),
  burst: Type.Integer({ description: 'How many requests may come at once.' }),
};

const proxyState = Type.Enum(['applied', 'pending', 'failed']);

/** Whether the proxies serve the current paywalls. */
export const PaywallProxy = Type.Object(
  {
    revision: Type.Integer({ minimum: 0, description: 'Increases with each change of any paywall.' }),
    state: proxyState,
    lastError: nullable(Type.String({ description: 'Why a proxy could not be configured.' })),
    appliedAt: nullable(Timestamp),
    targets: Type.Array(
      Type.Object({
        name: Type.String({ description: '`embedded`, `caddy` or `nginx`.' }),
        state: proxyState,
        revision: nullable(Type.Integer({ description: 'The revision that it serves.' })),
        lastError: nullable(Type.String()),
        appliedAt: nullable(Timestamp),
      }),
    ),
  },
  { $id: 'PaywallProxy' },
);

/** A paywall with its proxy state and statistics. */
export const Paywall = Type.Object(
  {
    id: Type.String({ description: '`pw_…`' }),
    name: Type.String({ description: 'Unique among your paywalls; part of its tokens.' }),
    ownerUserId: RowId,
    status: Type.Enum([...paywallStatuses], {
      description: '`paused`: requests get 503, paid tokens stay valid.',
    }),
    url: nullable(
      Type.String({ description: 'Where clients reach it; null while the reverse proxy is down.' }),
    ),
    match: Type.Object(MatchView),
    upstream: Type.Object(UpstreamView),
    priceSats: Type.Integer({ minimum: 1, description: 'The price of a token, in satoshis.' }),
    authScheme: Type.Enum([...authSchemes], {
      description:
        'How clients can prove a payment: `l402` by a token, `mpp` by a `Payment` credential for one request, `l402+mpp` by either.',
    }),
    token: Type.Object(TokenView),
    freePaths: Type.Array(Type.String()),
    freeRequestsPerDay: Type.Integer({ minimum: 0, description: 'For each client address.' }),
    rateLimit: nullable(Type.Object(RateLimitView, { description: 'For each client address.' })),
    allowedOrigins: Type.Array(Type.String(), {
      description: 'The origins whose web pages may send requests and read responses; `*` for any.',
    }),
    walletId: nullable(Type.String({ description: 'The wallet that is paid: `wal_…`.' })),
    proxy: PaywallProxy,
    stats: Type.Object({
      challenges: Type.Integer({ minimum: 0, description: 'How many payments were asked for.' }),
      paid: Type.Integer({ minimum: 0, description: 'How many of them were paid.' }),
      revenueMsats: msats('What was received, in millisatoshis.'),
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    deletedAt: nullable(Timestamp),
  },
  { $id: 'Paywall' },
);

const optional = <S extends Record<string, TSchema>>(members: S, description: string) =>
  Type.Optional(Type.Object(members, { additionalProperties: false, description }));

const match = optional(
  {
    host: maybe(Type.String({ pattern: hostPattern, maxLength: 253 })),
    pathPrefix: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: pathPattern,
        description: 'Letters, digits and `.`, `_`, `~`, `-` between slashes, without a slash at the end.',
      }),
    ),
    methods: Type.Optional(Type.Array(Type.Enum([...paywallMethods]), { maxItems: 7, uniqueItems: true })),
  },
  'Which requests it is for; by default all.',
);

const upstreamMembers = {
  rewritePrefix: maybe(Type.String({ maxLength: 255, pattern: `^$|${pathPattern}` })),
  headers: Type.Optional(
    mapOf(
      { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$", description: 'The name of a header.' },
      Type.String({ maxLength: 2048, pattern: '^[\\t\\u0020-\\u007e\\u00a0-\\u00ff]*$' }),
      {
        maxProperties: 32,
        description:
          'Headers to add to requests. They are encrypted where they are stored, and not shown again; in a change, the fingerprint of a value keeps it.',
      },
    ),
  ),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 600_000, description: 'Default: 30000.' })),
};
const upstreamUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  format: 'uri',
  pattern: '^https?://[^\\s/?#@\\\\]+(/[^\\s?#\\\\]*)?$',
  description: 'An http or https URL without a query.',
});

const changeable = {
  match,
  priceSats: Type.Integer({
    minimum: 1,
    maximum: priceMax,
    description: 'The price of a token, in satoshis.',
  }),
  authScheme: Type.Optional(
    Type.Enum([...authSchemes], {
      description:
        'How clients can prove a payment. Default: `l402+mpp`. With `mpp` alone a payment buys one request.',
    }),
  ),
  token: optional(
    {
      timeoutSeconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 31_536_000, description: 'Default: 3600.' }),
      ),
      maxUses: maybe(
        Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Default: 1; null for any number.' }),
      ),
      capabilities: Type.Optional(Type.Array(Type.String(label), { maxItems: 32, uniqueItems: true })),
      constraints: Type.Optional(
        mapOf(
          { pattern: '^[a-z][a-z0-9_]{0,63}$', description: 'Small letters, digits and `_`.' },
          Type.String(label),
          { maxProperties: 32 },
        ),
      ),
    },
    'What a payment buys.',
  ),
  freePaths: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: freePathPattern }), {
      maxItems: 64,
      description: 'Paths that cost nothing: `/weather/health`, or `/weather/docs/*` with all below it.',
    }),
  ),
  freeRequestsPerDay: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'Free requests per client address and UTC day.',
    }),
  ),
  rateLimit: maybe(
    Type.Object(
      {
        requests: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
        perSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description: 'Default: 1.' })),
        burst: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Default: `requests`.' }),
        ),
      },
      { additionalProperties: false, description: 'For each client address, paid or not.' },
    ),
  ),
  allowedOrigins: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 255,
        pattern:
          '^(\\*|null|https?://[^\\s/?#@*]+/?|(?!https?:)[A-Za-z][A-Za-z\\d+.-]*://([^\\s/?#@*]+/?|\\*))$',
      }),
      {
        maxItems: 64,
        uniqueItems: true,
        description:
          'The origins whose web pages may send requests and read responses: `https://app.example`, or `*` for any. Default: none.',
      },
    ),
  ),
};

const access = { apiKey: 'billing', login: 'any', token: 'payments' } as const;
const params = Type.Object({
  paywallId: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The id or name of one of your paywalls.',
  }),
});

export const listPaywalls = endpoint({
  id: 'listPaywalls',
  method: 'GET',
  path: '/api/l402/paywalls',
  summary: 'List your paywalls.',
  description: 'Newest first, without deleted ones unless `status` is `deleted`.',
  tag: 'Paywalls',
  access,
  query: Type.Object({
    status: Type.Optional(
      Type.Enum([...paywallStatuses], { description: 'Only paywalls with this status.' }),
    ),
    ...pageQuery,
  }),
  result: pageOf(Paywall),
});

export const createPaywall = endpoint({
  id: 'createPaywall',
  method: 'POST',
  path: '/api/l402/paywalls',
  summary: 'Create a paywall.',
  description:
    'Puts a price on requests to a web server: the reverse proxy of this host answers them with 402 and a Lightning invoice for your wallet until they carry a paid token. By default a payment buys one request. Needs a wallet. Link-local addresses are rejected as upstream unless `paywalls.allowed_upstreams` lists them, and private ones unless you own the host.',
  tag: 'Paywalls',
  access,
  headers: OnceHeaders,
  responseHeaders: idempotencyHeaders,
  body: StrictObject({
    name: Type.Optional(
      Type.String({
        maxLength: 63,
        pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
        description: 'Small letters, digits and `-`; by default derived from the path or the upstream.',
      }),
    ),
    ...changeable,
    upstream: StrictObject({ url: upstreamUrl, ...upstreamMembers }),
  }),
  result: dataOf(Paywall),
});

export const exportPaywalls = endpoint({
  id: 'exportPaywalls',
  method: 'GET',
  path: '/api/l402/paywalls/export',
  summary: 'Export your paywalls as the configuration of another proxy.',
  description:
    'Caddy and nginx forward requests to the reverse proxy of this host, which asks for the payments. Aperture asks for them itself, and is paid to its own wallet.',
  tag: 'Paywalls',
  access,
  query: Type.Object({
    format: Type.Enum([...exportFormats], {
      description:
        '`caddy`: a Caddyfile; `nginx`: locations for a `server` block; `aperture`: `services` in YAML.',
    }),
  }),
  result: dataOf(
    Type.Object({
      format: Type.Enum([...exportFormats]),
      revision: Type.Integer({ minimum: 0 }),
      text: Type.String({ description: 'The configuration file.' }),
    }),
  ),
});

export const getPaywall = endpoint({
  id: 'getPaywall',
  method: 'GET',
  path: '/api/l402/paywalls/{paywallId}',
  summary: 'Show a paywall.',
  tag: 'Paywalls',
  access,
  params,
  result: dataOf(Paywall),
});

export const updatePaywall = endpoint({
  id: 'updatePaywall',
  method: 'PATCH',
  path: '/api/l402/paywalls/{paywallId}',
  summary: 'Change, pause or resume a paywall.',
  description:
    'Omitted members are unchanged, also within `match`, `upstream` and `token`; a list or map replaces the whole one. Applies to the next request; tokens that were issued keep their terms.',
  tag: 'Paywalls',
  access,
  params,
  body: Type.Object(
    {
      ...changeable,
      priceSats: Type.Optional(changeable.priceSats),
      upstream: Type.Optional(StrictObject({ url: Type.Optional(upstreamUrl), ...upstreamMembers })),
      status: Type.Optional(Type.Enum(['active', 'paused'])),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  result: dataOf(Paywall),
  errors: ['conflict'],
});

export const deletePaywall = endpoint({
  id: 'deletePaywall',
  method: 'DELETE',
  path: '/api/l402/paywalls/{paywallId}',
  summary: 'Delete a paywall.',
  description:
    'Before this is answered, its route is gone and its tokens are revoked; running requests finish. `data.proxy` reports whether all proxies were reconfigured. Payments are kept; name and route become free.',
  tag: 'Paywalls',
  access,
  params,
  result: dataOf(Paywall),
  errors: ['conflict'],
});

export type Paywall = Static<typeof Paywall>;
export type PaywallProxy = Static<typeof PaywallProxy>;
export type PaywallStatus = (typeof paywallStatuses)[number];
export type PaywallMethod = (typeof paywallMethods)[number];
export type AuthScheme = (typeof authSchemes)[number];
export type ExportFormat = (typeof exportFormats)[number];
