import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { AnyObject, nullable, Timestamp } from './vocabulary.ts';

/** Types of events that a filter can name; `events.gap` and `events.dropped` always pass. */
export const eventTypes = [
  'request.queued',
  'request.started',
  'request.routed',
  'request.progress',
  'request.completed',
  'request.failed',
  'request.rejected',
  'limit.reached',
  'limit.warning',
  'budget.threshold',
  'budget.refused',
  'alert.fired',
  'alert.resolved',
  'key.issued',
  'key.revoked',
  'key.rotated',
  'key.previous_secret_used',
  'key.paused',
  'key.resumed',
  'provider.benched',
  'whisper.created',
  'payment.settled',
  'invoice.paid',
  'paywall.created',
  'paywall.updated',
  'paywall.deleted',
  'peer.added',
  'peer.changed',
  'peer.removed',
  'peer.benched',
  'autopilot.run_missed',
  'autopilot.run_skipped',
  'autopilot.run_failed',
  'credit.added',
  'member.joined',
  'member.changed',
  'member.left',
  'user.forgotten',
] as const;

const groups = [...new Set(eventTypes.map((type) => `${type.split('.')[0]}.*`))];
const filter = [...eventTypes, ...groups].map((type) => type.replace(/[.*]/g, '\\$&')).join('|');

/**
 * An event of a workspace: `request.started`, `request.completed`, `request.rejected`, `key.revoked`, … `sequence` is
 * null for events that are live only. `events.dropped` (`data.count`) reports that a slow reader missed live events;
 * stored ones are never dropped. `events.gap` (`data.after`) reports to a resuming reader that events after that
 * sequence are no longer stored.
 */
export const EventView = Type.Object(
  {
    type: Type.String({ description: '`request.started`, `request.completed`, `key.revoked`, …' }),
    sequence: nullable(
      Type.Integer({
        description: 'Position among the stored events; null for events that are live only.',
      }),
    ),
    created_at: Timestamp,
    data: AnyObject,
  },
  { $id: 'Event' },
);

export const streamEvents = endpoint({
  id: 'streamEvents',
  method: 'GET',
  path: '/v1/events',
  summary: 'Stream the events of the workspace.',
  description: `Server-sent events until either side disconnects. A \`request.rejected\` is a call that got an error before any provider was asked; only the owner of the host gets those without a valid key, and \`data.more\` counts similar calls that have no event of their own. Stored events have their sequence as SSE id, so a reader can resume. Events are stored for 24 hours, at most 100,000: \`events.gap\` (\`data.after\`) tells a resuming reader that older ones are gone. \`events.dropped\` (\`data.count\`) tells a slow reader that live events were skipped; stored ones never are. With \`digest\`, \`calls.digest\` has the number of calls that \`started\` and \`finished\`, the latter by \`statuses\` and \`errors\`, their \`input_tokens\`, \`output_tokens\` and \`cost_usd\`, \`p50\` and \`p95\` of \`first_token_ms\` and \`total_ms\`, the newest finished calls as \`rows\`, and the calls that this stream has seen start and not end as \`running\`, the newest with their tokens and cost so far as \`running_rows\`. The types are ${eventTypes.map((type) => `\`${type}\``).join(', ')}.`,
  tag: 'Events',
  access: { apiKey: ['traces:read', 'traces'], login: 'any' },
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Resume after this sequence; `Last-Event-ID` takes precedence. Default: new events only.',
      }),
    ),
    type: Type.Optional(
      Type.String({
        pattern: `^(${filter})(,(${filter}))*$`,
        maxLength: 256,
        description:
          'Only events of these types, such as `limit.reached` and `request.*`, separated by commas; the description of this endpoint lists all of them.',
      }),
    ),
    key: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only events of this key and its requests.' }),
    ),
    digest: Type.Optional(
      Type.Integer({
        minimum: 250,
        maximum: 60_000,
        description:
          'In place of the events of single calls, one `calls.digest` in so many milliseconds, if anything happened.',
      }),
    ),
    rows: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 200,
        description: 'How many of the newest calls a digest contains; default 50.',
      }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 32, description: 'The SSE id of the last event received.' }),
    ),
  }),
  result: EventView,
  stream: { event: EventView, done: false, always: true },
});

export type EventView = Static<typeof EventView>;
