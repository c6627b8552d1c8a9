import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, deleted, everyone, maybe, nullable, Timestamp, WorkspaceReference } from './vocabulary.ts';

/*
 * Peers: other servers that answer typed decisions. Another gateway describes itself with `GET /v1/node`; for any other
 * server `GET /v1/models` takes its place.
 */

const closed = { additionalProperties: false } as const;

/** At most as many peers as are looked through for each decision. */
export const peersMax = 64;

export const peerStatuses = ['unknown', 'healthy', 'degraded', 'benched', 'disabled'] as const;

export type PeerStatus = (typeof peerStatuses)[number];

/** Of the names that a workspace can give to peers. */
export const peerNamePattern = '^[a-z0-9][a-z0-9_-]{0,63}$';

const PeerName = Type.String({
  pattern: peerNamePattern,
  description: 'Lower-case letters, digits, `_` and `-`: `attic`. Answers name it `peer:attic`.',
});

const PeerModel = Type.Object({
  id: Type.String({ description: 'What a decision names as its model: `engine`.' }),
  identity: nullable(
    Type.String({
      description:
        'What answers under this name: `qwen3-4b-q4@sha256:…`; null where the server does not state it.',
    }),
  ),
});

const Agreement = Type.Object(
  { compared: Type.Integer({ minimum: 0 }), agreed: Type.Integer({ minimum: 0 }) },
  {
    description:
      'How many of its answers were compared with those of another source, and how many were the same: the same choice, level, or side of 0.5. None are compared unless the host sets `decisions.peer_agreement_share`.',
  },
);

/** A peer of a workspace, without its key. */
export const Peer = Type.Object(
  {
    name: PeerName,
    url: Type.String({ description: 'The address of the server, without `/v1`.' }),
    status: Type.Enum([...peerStatuses], {
      description:
        '`unknown`: not asked yet. `degraded`: its last call failed, or its bench ended and one call is tried. `benched`: skipped until `benched_until`.',
    }),
    reason: nullable(
      Type.String({ description: 'Why it is degraded or benched: `timeout`, `wrong_model`, …' }),
    ),
    enabled: Type.Boolean(),
    allowed_models: nullable(
      Type.Array(Type.String(), { description: 'The models it may be asked for; null for all.' }),
    ),
    max_in_flight: Type.Integer({
      minimum: 1,
      description: 'How many decisions it is asked at the same time.',
    }),
    insecure_http: Type.Boolean({ description: 'Whether plain HTTP to another machine is allowed.' }),
    key_fingerprint: nullable(
      Type.String({
        pattern: '^[0-9a-f]{12}$',
        description: 'The first 12 hex digits of the SHA-256 of its key; null without a key.',
      }),
    ),
    node_id: nullable(Type.String({ description: 'As its card states; null for a server without one.' })),
    version: nullable(Type.String({ description: 'As its card states.' })),
    models: Type.Array(PeerModel, { description: 'What it offers, as it stated last.' }),
    last_seen_at: nullable(Timestamp),
    latency_ms: nullable(
      Type.Number({
        minimum: 0,
        description: 'Moving average of the time of its answers; null before the first.',
      }),
    ),
    answered: Type.Integer({ minimum: 0, description: 'Decisions it answered.' }),
    failed: Type.Integer({ minimum: 0, description: 'Decisions it failed to answer.' }),
    agreement: Agreement,
    benched_until: nullable(Timestamp),
    added_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Peer', description: 'Another server that answers decisions, without its key.' },
);

/** The result of checking a peer. */
export const PeerCheck = Type.Object(
  {
    name: PeerName,
    result: Type.Enum(['good', 'failed'], { description: 'Whether it answered a decision as it should.' }),
    message: Type.String({ description: 'The reason for the result, for people.' }),
    card_ms: nullable(Type.Number({ minimum: 0, description: 'How long its card took; null without one.' })),
    decision_ms: nullable(
      Type.Number({ minimum: 0, description: 'How long a decision took; null if there was no answer.' }),
    ),
    model: nullable(Type.String({ description: 'The model that answered.' })),
    agreement: Agreement,
  },
  { $id: 'PeerCheck' },
);

/** One call to a peer. */
export const PeerAttempt = Type.Object(
  {
    peer: PeerName,
    request_id: Type.String({ description: 'The request that the peer was asked for: `req_…`.' }),
    outcome: Type.String({
      description:
        '`answered`, or why there was no valid answer: `timeout`, `unreachable`, `wrong_shape`, `wrong_model`, `canceled`, …',
    }),
    code: nullable(Type.Integer({ description: 'The HTTP status of the peer; null without an answer.' })),
    hedged: Type.Boolean({ description: 'Whether it was asked because another peer was slow.' }),
    ms: Type.Number({ minimum: 0 }),
    created_at: Timestamp,
  },
  { $id: 'PeerAttempt', description: 'One call to a peer. Neither questions nor answers are stored.' },
);

/** What a gateway states about itself to its peers. */
export const NodeCard = Type.Object(
  {
    object: Type.Literal('node'),
    node_id: Type.String({ description: 'Identifies this daemon: `node_…`. It is not secret.' }),
    version: Type.String(),
    decisions: Type.Object({
      models: Type.Array(PeerModel, { description: 'The models of its own engine that can answer now.' }),
      limits: Type.Object({
        body_bytes: Count,
        input_bytes: Count,
        question_bytes: Count,
        questions: Count,
        choices: Count,
        levels: Count,
      }),
      slots: Type.Object(
        { total: Count, free: Count },
        { description: 'How many decisions it suggests to send at the same time, and how many more now.' },
      ),
    }),
  },
  { $id: 'NodeCard', description: 'What a gateway states about itself to its peers.' },
);

export const getNode = endpoint({
  id: 'getNode',
  method: 'GET',
  path: '/v1/node',
  summary: 'Describe this daemon to its peers.',
  tag: 'Peers',
  access: everyone,
  result: NodeCard,
});

const access = { login: 'admin', loginOnly: true } as const;
const at = Type.Object({ workspace: WorkspaceReference });
const one = Type.Object({ workspace: WorkspaceReference, peer: PeerName });

export const listPeers = endpoint({
  id: 'listPeers',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/peers',
  summary: 'List peers.',
  description: 'All on one page, with the state of each.',
  tag: 'Peers',
  access,
  params: at,
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(Peer) }),
});

/** Adds or changes a peer. */
export const putPeer = endpoint({
  id: 'putPeer',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/peers/{peer}',
  summary: 'Add or change a peer.',
  description: `A peer is asked only for decisions with \`X-Decision-Order: peer\`, or if the host asks peers by default. Its key is stored sealed, and is never shown again. Without \`key\` an earlier one stays, unless the address changes. A workspace has at most ${peersMax} peers.`,
  tag: 'Peers',
  access,
  params: one,
  body: Type.Object(
    {
      url: Type.String({
        minLength: 1,
        maxLength: 2048,
        format: 'uri',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@\\\\]+(/[^\\s?#\\\\]*)?$',
        description:
          'An `https` address, with or without `/v1`; no user, password, query or fragment. Only the owner of the host can choose addresses of private networks; `http` is for this machine, or needs `insecure_http`.',
      }),
      key: Type.Optional(
        nullable(
          Type.String({
            pattern: '^[!-~]{1,512}$',
            description: 'An API key of the peer: visible ASCII characters. `null` removes the stored key.',
          }),
        ),
      ),
      models: maybe(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          description: 'The models it may be asked for; all by default.',
        }),
      ),
      max_in_flight: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 64,
          description: 'How many decisions at the same time; default 4.',
        }),
      ),
      enabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
      insecure_http: Type.Optional(
        Type.Boolean({
          description:
            'Allows `http` to another machine: others in the network can read the questions and the key.',
        }),
      ),
    },
    closed,
  ),
  result: Peer,
});

export const deletePeer = endpoint({
  id: 'deletePeer',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/peers/{peer}',
  summary: 'Remove a peer.',
  description: 'Its key is deleted; its attempts stay.',
  tag: 'Peers',
  access,
  params: one,
  result: deleted('peer'),
});

export const checkPeer = endpoint({
  id: 'checkPeer',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/peers/{peer}/check',
  summary: 'Check a peer.',
  description: 'Reads its card and asks it for one fixed decision. A good result ends its bench.',
  tag: 'Peers',
  access,
  params: one,
  result: PeerCheck,
});

export const listPeerAttempts = endpoint({
  id: 'listPeerAttempts',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/peer-attempts',
  summary: 'List calls to peers.',
  description:
    'Newest first: what each peer was asked for, the outcome and the time. Neither questions nor answers are stored. The last 10,000 of the host are kept.',
  tag: 'Peers',
  access,
  params: at,
  query: Type.Object({
    peer: Type.Optional(PeerName),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default 50.' })),
  }),
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(PeerAttempt) }),
});

export type Peer = Static<typeof Peer>;
export type PeerCheck = Static<typeof PeerCheck>;
export type PeerAttempt = Static<typeof PeerAttempt>;
export type NodeCard = Static<typeof NodeCard>;
