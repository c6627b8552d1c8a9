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
import { exactlyOneOf, nullable, Timestamp } from './vocabulary.ts';

/** A message from one user to another. */
export const Whisper = Type.Object(
  {
    body: Type.String({ description: 'Plain text, unmodified.' }),
    createdAt: Timestamp,
    id: RowId,
    readAt: nullable(Timestamp),
    recipient: UserReference,
    sender: UserReference,
    updatedAt: Timestamp,
  },
  { $id: 'Whisper' },
);

/** A conversation with one user. */
export const WhisperThread = Type.Object(
  {
    peer: UserReference,
    last: Whisper,
    unread: Type.Integer({ minimum: 0, description: 'Unread whispers from the peer.' }),
  },
  { $id: 'WhisperThread' },
);

const read = { apiKey: 'workspace', login: 'any', token: 'whispers:read' } as const;
const write = { apiKey: 'workspace', login: 'any', token: 'whispers:write' } as const;
const Peer = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9:_-]+$',
  description:
    'The id or handle of a user: letters, digits, `:`, `_` and `-`. Only the conversation with them.',
});

export const listWhispers = endpoint({
  id: 'listWhispers',
  method: 'GET',
  path: '/api/whispers',
  summary: 'List your whispers.',
  description: 'Whispers you sent or received, newest first.',
  tag: 'Whispers',
  access: read,
  query: Type.Object({ with: Type.Optional(Peer), ...rowPageQuery }),
  result: pageOf(Whisper, {
    with: nullable(Type.String({ description: 'The handle of the user that was requested.' })),
  }),
});

export const sendWhisper = endpoint({
  id: 'sendWhisper',
  method: 'POST',
  path: '/api/whispers',
  summary: 'Send a whisper.',
  description:
    'Exactly one of `recipientId` and `recipientHandle` is required; you cannot whisper to yourself.',
  tag: 'Whispers',
  access: write,
  body: Type.Object(
    {
      body: PlainText('Plain text that is not blank; stored unmodified.', { maxLength: 5000 }),
      recipientId: Type.Optional(RowId),
      recipientHandle: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    },
    { additionalProperties: false, ...exactlyOneOf('recipientId', 'recipientHandle') },
  ),
  result: dataOf(Whisper),
});

export const listWhisperThreads = endpoint({
  id: 'listWhisperThreads',
  method: 'GET',
  path: '/api/whispers/threads',
  summary: 'List your whisper conversations.',
  description: 'With the last whisper and the number of unread ones, most recent first.',
  tag: 'Whispers',
  access: read,
  query: Type.Object(rowPageQuery),
  result: pageOf(WhisperThread),
});

export const streamWhispers = endpoint({
  id: 'streamWhispers',
  method: 'GET',
  path: '/api/whispers/stream',
  summary: 'Stream your whispers.',
  description:
    'Server-sent events `whisper.created`, with the id of the whisper as SSE id, and `whisper.read`, without one. `Last-Event-ID` resumes after a whisper; without it, only new events are sent.',
  tag: 'Whispers',
  access: read,
  headers: resumeHeaders,
  result: Whisper,
  stream: { event: Whisper, done: false, always: true },
});

export const getWhisper = endpoint({
  id: 'getWhisper',
  method: 'GET',
  path: '/api/whispers/{id}',
  summary: 'Show a whisper.',
  description: 'One you sent or received. Does not mark it as read.',
  tag: 'Whispers',
  access: read,
  params: rowIn('The id of a whisper.'),
  result: dataOf(Whisper),
});

export const readWhisper = endpoint({
  id: 'readWhisper',
  method: 'PATCH',
  path: '/api/whispers/{id}/read',
  summary: 'Mark a whisper as read.',
  description: 'Only for its recipient; the first read time is kept.',
  tag: 'Whispers',
  access: write,
  params: rowIn('The id of a whisper.'),
  result: dataOf(Whisper),
});

export const readAllWhispers = endpoint({
  id: 'readAllWhispers',
  method: 'PATCH',
  path: '/api/whispers/read-all',
  summary: 'Mark all whispers as read.',
  description: 'All of them, or those from one user.',
  tag: 'Whispers',
  access: write,
  query: Type.Object({ with: Type.Optional(Peer) }),
  result: dataOf(Type.Object({ readCount: Type.Integer({ minimum: 0 }) })),
});

export type Whisper = Static<typeof Whisper>;
export type WhisperThread = Static<typeof WhisperThread>;
