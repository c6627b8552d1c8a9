import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  dataOf,
  PlainText,
  pageLimit,
  pageOf,
  RowId,
  resumeHeaders,
  rowIn,
  rowPageQuery,
  UserReference,
} from './site.ts';
import { everyone, StrictObject, Timestamp } from './vocabulary.ts';

/** The default zone. */
export const defaultZone = 'global';

/** A public message. */
export const Shout = Type.Object(
  {
    author: UserReference,
    body: Type.String({ description: 'Plain text, unmodified.' }),
    createdAt: Timestamp,
    id: RowId,
    updatedAt: Timestamp,
    visibility: Type.Literal('public'),
    zone: Type.String(),
  },
  { $id: 'Shout' },
);

/** A zone of shouts. */
export const Zone = Type.Object(
  {
    zone: Type.String(),
    count24h: Type.Integer({ minimum: 0, description: 'Shouts in the last 24 hours.' }),
  },
  { $id: 'Zone' },
);

const write = { apiKey: 'workspace', login: 'any', token: 'shouts:write' } as const;
const zonePattern = { maxLength: 64, pattern: '^[A-Za-z0-9:_-]*$' };
const inZone = Type.Optional(
  Type.String({
    ...zonePattern,
    description: 'Only shouts of this zone: letters, digits, `:`, `_` and `-`, case-insensitive.',
  }),
);

export const listShouts = endpoint({
  id: 'listShouts',
  method: 'GET',
  path: '/api/shouts',
  summary: 'List shouts.',
  description: 'Newest first.',
  tag: 'Shouts',
  access: everyone,
  query: Type.Object({
    zone: inZone,
    ...rowPageQuery,
    since: Type.Optional(
      Type.String({ maxLength: 32, description: 'Only shouts from this time on: ISO 8601 in UTC.' }),
    ),
  }),
  result: pageOf(Shout),
});

export const postShout = endpoint({
  id: 'postShout',
  method: 'POST',
  path: '/api/shouts',
  summary: 'Shout.',
  description: 'Visible to everyone. At most 30 per minute.',
  tag: 'Shouts',
  access: write,
  body: StrictObject({
    body: PlainText('Plain text that is not blank; stored unmodified.', { maxLength: 2000 }),
    zone: Type.Optional(
      Type.String({
        ...zonePattern,
        description: `Letters, digits, \`:\`, \`_\` and \`-\`, stored in lower case; default \`${defaultZone}\`.`,
      }),
    ),
  }),
  result: dataOf(Shout),
  errors: ['rate_limited'],
});

export const listZones = endpoint({
  id: 'listZones',
  method: 'GET',
  path: '/api/shouts/zones',
  summary: 'List the zones.',
  description: 'Zones of the last 24 hours, most active first.',
  tag: 'Shouts',
  access: everyone,
  query: Type.Object({
    limit: pageLimit('Page size; default 20, at most 100.'),
  }),
  result: dataOf(Type.Array(Zone)),
});

export const streamShouts = endpoint({
  id: 'streamShouts',
  method: 'GET',
  path: '/api/shouts/stream',
  summary: 'Stream shouts.',
  description:
    'Server-sent events `shout.created`, with the id of the shout as SSE id. `Last-Event-ID` resumes after a shout; without it, only new shouts are sent.',
  tag: 'Shouts',
  access: everyone,
  query: Type.Object({ zone: inZone }),
  headers: resumeHeaders,
  result: Shout,
  stream: { event: Shout, done: false, always: true },
});

export const getShout = endpoint({
  id: 'getShout',
  method: 'GET',
  path: '/api/shouts/{id}',
  summary: 'Show a shout.',
  description: 'The author.',
  tag: 'Shouts',
  access: everyone,
  params: rowIn('The id of a shout.'),
  result: dataOf(Shout),
});

export const deleteShout = endpoint({
  id: 'deleteShout',
  method: 'DELETE',
  path: '/api/shouts/{id}',
  summary: 'Delete one of your shouts.',
  description: 'Only the author may delete it.',
  tag: 'Shouts',
  access: write,
  params: rowIn('The id of a shout.'),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
});

export type Shout = Static<typeof Shout>;
export type Zone = Static<typeof Zone>;
