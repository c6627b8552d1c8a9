import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  dataOf,
  PlainText,
  pageOf,
  RowId,
  resumeHeaders,
  rowIn,
  rowPageQuery,
  UserReference,
} from './site.ts';
import { everyone, Timestamp } from './vocabulary.ts';

/** The zone of a shout that names none. */
export const defaultZone = 'global';

/** A public message. */
export const Shout = Type.Object(
  {
    author: UserReference,
    body: Type.String({ description: 'Plain text, as it came.' }),
    createdAt: Timestamp,
    id: RowId,
    updatedAt: Timestamp,
    visibility: Type.Literal('public'),
    zone: Type.String(),
  },
  { $id: 'Shout' },
);

/** A place to shout. */
export const Zone = Type.Object(
  {
    zone: Type.String(),
    count24h: Type.Integer({ minimum: 0, description: 'Shouts of the last 24 hours.' }),
  },
  { $id: 'Zone' },
);

const write = { apiKey: 'workspace', login: 'any', token: 'shouts:write' } as const;
const errors = ['unauthenticated', 'permission', 'out_of_scope'] as const;
const zonePattern = { maxLength: 64, pattern: '^[A-Za-z0-9:_-]*$' };
const inZone = Type.Optional(
  Type.String({
    ...zonePattern,
    description: 'Only those of this zone: letters, digits, `:`, `_` and `-`, in upper or lower case.',
  }),
);

/** Lists shouts. */
export const listShouts = endpoint({
  id: 'listShouts',
  method: 'GET',
  path: '/api/shouts',
  summary: 'List shouts.',
  description: 'Newest first.',
  tag: 'Shouts',
  access: everyone,
  surface: 'site',
  query: Type.Object({
    zone: inZone,
    ...rowPageQuery,
    since: Type.Optional(
      Type.String({ maxLength: 32, description: 'Only those from this time on: ISO 8601 in UTC.' }),
    ),
  }),
  result: pageOf(Shout),
  errors: ['invalid_request'],
});

/** Shouts. */
export const postShout = endpoint({
  id: 'postShout',
  method: 'POST',
  path: '/api/shouts',
  summary: 'Shout.',
  description: 'Everybody can read it. At most 30 a minute.',
  tag: 'Shouts',
  access: write,
  surface: 'site',
  body: Type.Object(
    {
      body: PlainText('Plain text that is not blank; it is kept as it came.', { maxLength: 2000 }),
      zone: Type.Optional(
        Type.String({
          ...zonePattern,
          description: `Letters, digits, \`:\`, \`_\` and \`-\`, kept in lower case; \`${defaultZone}\` unless told.`,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: dataOf(Shout),
  errors: [...errors, 'invalid_request', 'rate_limited'],
});

/** Lists zones. */
export const listZones = endpoint({
  id: 'listZones',
  method: 'GET',
  path: '/api/shouts/zones',
  summary: 'List the zones.',
  description: 'Those of the last 24 hours, the loudest first.',
  tag: 'Shouts',
  access: everyone,
  surface: 'site',
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'How many; 20 unless told, and never more than 100.',
      }),
    ),
  }),
  result: dataOf(Type.Array(Zone)),
  errors: ['invalid_request'],
});

/** Follows shouts. */
export const streamShouts = endpoint({
  id: 'streamShouts',
  method: 'GET',
  path: '/api/shouts/stream',
  summary: 'Follow shouts.',
  description:
    'Server-sent events `shout.created`, with the id of the shout as the SSE id. `Last-Event-ID` resumes after a shout; without it the stream begins now.',
  tag: 'Shouts',
  access: everyone,
  surface: 'site',
  query: Type.Object({ zone: inZone }),
  headers: resumeHeaders,
  result: Shout,
  stream: { event: Shout, done: false, always: true },
  errors: ['invalid_request', 'unavailable'],
});

/** Reads one shout. */
export const getShout = endpoint({
  id: 'getShout',
  method: 'GET',
  path: '/api/shouts/{id}',
  summary: 'Show a shout.',
  description: 'Whoever shouted it.',
  tag: 'Shouts',
  access: everyone,
  surface: 'site',
  params: rowIn('The id of a shout.'),
  result: dataOf(Shout),
  errors: ['not_found'],
});

/** Deletes a shout. */
export const deleteShout = endpoint({
  id: 'deleteShout',
  method: 'DELETE',
  path: '/api/shouts/{id}',
  summary: 'Delete one of your shouts.',
  description: 'Only its author may.',
  tag: 'Shouts',
  access: write,
  surface: 'site',
  params: rowIn('The id of a shout.'),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
  errors: [...errors, 'not_found'],
});

export type Shout = Static<typeof Shout>;
export type Zone = Static<typeof Zone>;
