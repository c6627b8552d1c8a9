import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { AnyObject, nullable, Timestamp } from './vocabulary.ts';

/**
 * Something that happened in a workspace: `request.started`, `request.routed`, `request.completed`, `key.revoked`, …
 * `sequence` is null for what is told live and not kept. `events.dropped` (`data.count`) tells a reader who was too
 * slow that live events were left out; kept ones never are. `events.gap` (`data.after`) tells a reader who resumes that
 * what came after that sequence is not kept any more.
 */
export const EventView = Type.Object(
  {
    type: Type.String({ description: '`request.started`, `request.completed`, `key.revoked`, …' }),
    sequence: nullable(
      Type.Integer({
        description: 'Its place among the events that are kept; null for what is only told live.',
      }),
    ),
    created_at: Timestamp,
    data: AnyObject,
  },
  { $id: 'Event' },
);

/** Follows what happens. Kept events carry their sequence as the SSE id, so that a reader can resume. */
export const streamEvents = endpoint({
  id: 'streamEvents',
  method: 'GET',
  path: '/v1/events',
  summary: 'Follow what happens in the workspace.',
  description:
    'Server-sent events that go on until either side closes. Kept events carry their sequence as the SSE id, so that a reader can resume. Events are kept for 24 hours, 100,000 of them at most: `events.gap` (`data.after`) tells a reader who resumes after older ones. `events.dropped` (`data.count`) tells a reader who was too slow that live events were left out; kept ones never are.',
  tag: 'Events',
  access: { apiKey: ['traces:read', 'traces'], login: 'any' },
  surface: 'v1',
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Resume after this sequence; `Last-Event-ID` wins. Without either: from now on.',
      }),
    ),
    type: Type.Optional(
      Type.String({
        pattern: '^[a-z_]+\\.([a-z_]+|\\*)(,[a-z_]+\\.([a-z_]+|\\*))*$',
        maxLength: 256,
        description: 'Only events of these types: `request.failed,limit.reached`, or `request.*`.',
      }),
    ),
    key: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only events of this key and its requests.' }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 32, description: 'The SSE id of the last event that was seen.' }),
    ),
  }),
  result: EventView,
  stream: { event: EventView, done: false, always: true },
  errors: ['unauthenticated', 'out_of_scope', 'invalid_request'],
});

export type EventView = Static<typeof EventView>;
