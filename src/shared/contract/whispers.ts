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
import { nullable, Timestamp } from './vocabulary.ts';

/** A message from one person to another. */
export const Whisper = Type.Object(
  {
    body: Type.String({ description: 'Plain text, as it came.' }),
    createdAt: Timestamp,
    id: RowId,
    readAt: nullable(Timestamp),
    recipient: UserReference,
    sender: UserReference,
    updatedAt: Timestamp,
  },
  { $id: 'Whisper' },
);

/** What was said with one person. */
export const WhisperThread = Type.Object(
  {
    peer: UserReference,
    last: Whisper,
    unread: Type.Integer({ minimum: 0, description: 'Those from the peer that were not read.' }),
  },
  { $id: 'WhisperThread' },
);

const read = { apiKey: 'workspace', login: 'any', token: 'whispers:read' } as const;
const write = { apiKey: 'workspace', login: 'any', token: 'whispers:write' } as const;
const errors = ['unauthenticated', 'permission', 'out_of_scope', 'not_found'] as const;
const Peer = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9:_-]+$',
  description:
    'The id or handle of a person, in letters, digits, `:`, `_` and `-`: only what was said with them.',
});

/** Lists whispers to and from the caller. */
export const listWhispers = endpoint({
  id: 'listWhispers',
  method: 'GET',
  path: '/api/whispers',
  summary: 'List your whispers.',
  description: 'Those that you sent and got, newest first.',
  tag: 'Whispers',
  access: read,
  surface: 'site',
  query: Type.Object({ with: Type.Optional(Peer), ...rowPageQuery }),
  result: pageOf(Whisper, {
    with: nullable(Type.String({ description: 'The handle of whoever was asked for.' })),
  }),
  errors: [...errors, 'invalid_request'],
});

/** Sends a whisper. */
export const sendWhisper = endpoint({
  id: 'sendWhisper',
  method: 'POST',
  path: '/api/whispers',
  summary: 'Whisper to somebody.',
  description: 'To exactly one of `recipientId` and `recipientHandle`, and not to yourself.',
  tag: 'Whispers',
  access: write,
  surface: 'site',
  body: Type.Object(
    {
      body: PlainText('Plain text that is not blank; it is kept as it came.', { maxLength: 5000 }),
      recipientId: Type.Optional(RowId),
      recipientHandle: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    },
    { additionalProperties: false },
  ),
  result: dataOf(Whisper),
  errors: [...errors, 'invalid_request'],
});

/** Lists the people whom the caller whispers with. */
export const listWhisperThreads = endpoint({
  id: 'listWhisperThreads',
  method: 'GET',
  path: '/api/whispers/threads',
  summary: 'List whom you whisper with.',
  description: 'With the last whisper and how many are unread; the latest first.',
  tag: 'Whispers',
  access: read,
  surface: 'site',
  query: Type.Object(rowPageQuery),
  result: pageOf(WhisperThread),
  errors: [...errors, 'invalid_request'],
});

/** Follows whispers to and from the caller. */
export const streamWhispers = endpoint({
  id: 'streamWhispers',
  method: 'GET',
  path: '/api/whispers/stream',
  summary: 'Follow your whispers.',
  description:
    'Server-sent events `whisper.created`, with the id of the whisper as the SSE id, and `whisper.read`, without one. `Last-Event-ID` resumes after a whisper; without it the stream begins now.',
  tag: 'Whispers',
  access: read,
  surface: 'site',
  headers: resumeHeaders,
  result: Whisper,
  stream: { event: Whisper, done: false, always: true },
  errors: [...errors, 'invalid_request'],
});

/** Reads one whisper. */
export const getWhisper = endpoint({
  id: 'getWhisper',
  method: 'GET',
  path: '/api/whispers/{id}',
  summary: 'Show a whisper.',
  description: 'One that you sent or got. It does not become read by this.',
  tag: 'Whispers',
  access: read,
  surface: 'site',
  params: rowIn('The id of a whisper.'),
  result: dataOf(Whisper),
  errors,
});

/** Marks a whisper as read. */
export const readWhisper = endpoint({
  id: 'readWhisper',
  method: 'PATCH',
  path: '/api/whispers/{id}/read',
  summary: 'Mark a whisper as read.',
  description: 'Only its recipient may; the first time that it was read stays.',
  tag: 'Whispers',
  access: write,
  surface: 'site',
  params: rowIn('The id of a whisper.'),
  result: dataOf(Whisper),
  errors,
});

/** Marks all whispers to the caller as read. */
export const readAllWhispers = endpoint({
  id: 'readAllWhispers',
  method: 'PATCH',
  path: '/api/whispers/read-all',
  summary: 'Mark your whispers as read.',
  description: 'All of them, or those from one person.',
  tag: 'Whispers',
  access: write,
  surface: 'site',
  query: Type.Object({ with: Type.Optional(Peer) }),
  result: dataOf(Type.Object({ readCount: Type.Integer({ minimum: 0 }) })),
  errors: [...errors, 'invalid_request'],
});

export type Whisper = Static<typeof Whisper>;
export type WhisperThread = Static<typeof WhisperThread>;
