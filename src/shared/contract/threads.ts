import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { AnyObject, deleted, listOf, nullable, OneLine, pageQuery, Timestamp } from './vocabulary.ts';

/** Conversations that are kept, and the model calls that are made in them. */

export const threadTitleMax = 255;

export const ThreadTitle = OneLine({
  maxLength: threadTitleMax,
  description: 'For people; the first message of a user gives one to a thread that has none.',
});

export const Thread = Type.Object(
  {
    id: Type.String({ description: '`th_…`' }),
    title: nullable(Type.String()),
    working: Type.Boolean({ description: 'Whether a model call in it is under way.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Thread' },
);

/** One item of a conversation. */
export const ThreadMessage = Type.Object(
  {
    id: Type.String({ description: '`msg_…`' }),
    object: Type.Literal('thread.message'),
    run: Type.String({ description: 'The run that added it: `run_…`.' }),
    type: Type.String({
      description:
        '`message`, `function_call`, `function_call_output`, `reasoning`, …, as in the Responses format.',
    }),
    role: Type.String({ description: '`user`, `system`, `developer`, `assistant` or `tool`.' }),
    content: Type.Array(AnyObject, {
      description: 'The parts of a message; of anything else, the item itself. Sealed texts are left out.',
    }),
    created_at: Timestamp,
  },
  { $id: 'ThreadMessage' },
);

/** What happened in a thread. */
export const ThreadEvent = Type.Object(
  {
    type: Type.String({
      description:
        '`run_started`, `model_stream_started`, `model_finished`, `run_completed`, `run_failed` or `run_cancelled`.',
    }),
    sequence: Type.Integer({ minimum: 1, description: 'Rises by one, in each thread.' }),
    id: Type.String({ description: '`evt_…`' }),
    run: Type.String({ description: '`run_…`' }),
    created_at: Timestamp,
    data: AnyObject,
  },
  { $id: 'ThreadEvent' },
);

const OneThread = Type.Object({ thread: Thread });
const ThreadId = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64, description: 'The id of a thread: `th_…`.' }),
});
const tag = 'Threads';
const surface = 'v1';
const readers = { apiKey: ['threads:read', 'threads'], login: 'any', agent: true } as const;
const writers = { apiKey: 'threads', login: 'any', agent: true } as const;
const refusals = ['unauthenticated', 'out_of_scope', 'invalid_request'] as const;
const ofOne = [...refusals, 'not_found'] as const;

export const createThread = endpoint({
  id: 'createThread',
  method: 'POST',
  path: '/v1/threads',
  summary: 'Create a thread.',
  description: [
    'A conversation that is kept until it is deleted. A model call that names it, by `service.thread` in either format or',
    'by `conversation` in the Responses format, is a run of it: what the thread holds is the context, what the call sends',
    'is new, and both that and the answer are added to the thread when the run completes. A run that fails or is',
    'cancelled adds nothing. One run at a time: a second is 409 `conflict`. Keys need the scope `threads` for it.',
  ].join(' '),
  tag,
  access: writers,
  surface,
  body: Type.Object({ title: Type.Optional(nullable(ThreadTitle)) }, { additionalProperties: false }),
  result: OneThread,
  errors: refusals,
});

export const listThreads = endpoint({
  id: 'listThreads',
  method: 'GET',
  path: '/v1/threads',
  summary: 'List the threads of the workspace.',
  description: 'Newest first.',
  tag,
  access: readers,
  surface,
  query: Type.Object(pageQuery),
  result: listOf(Thread),
  errors: refusals,
});

export const getThread = endpoint({
  id: 'getThread',
  method: 'GET',
  path: '/v1/threads/{id}',
  summary: 'Show a thread.',
  description: 'Its run is over when `working` is false.',
  tag,
  access: readers,
  surface,
  params: ThreadId,
  result: OneThread,
  errors: ofOne,
});

export const updateThread = endpoint({
  id: 'updateThread',
  method: 'PATCH',
  path: '/v1/threads/{id}',
  summary: 'Change the title of a thread.',
  tag,
  access: writers,
  surface,
  params: ThreadId,
  body: Type.Object({ title: nullable(ThreadTitle) }, { additionalProperties: false }),
  bodyRequired: true,
  result: OneThread,
  errors: ofOne,
});

export const deleteThread = endpoint({
  id: 'deleteThread',
  method: 'DELETE',
  path: '/v1/threads/{id}',
  summary: 'Delete a thread.',
  description: 'With its messages, runs and events. A run that is under way is cancelled first.',
  tag,
  access: writers,
  surface,
  params: ThreadId,
  result: deleted('thread'),
  errors: ofOne,
});

export const listThreadMessages = endpoint({
  id: 'listThreadMessages',
  method: 'GET',
  path: '/v1/threads/{id}/messages',
  summary: 'List the messages of a thread.',
  description: 'Oldest first: the items that its completed runs were sent and answered with.',
  tag,
  access: readers,
  surface,
  params: ThreadId,
  query: Type.Object(pageQuery),
  result: listOf(ThreadMessage),
  errors: ofOne,
});

export const followThread = endpoint({
  id: 'followThread',
  method: 'GET',
  path: '/v1/threads/{id}/events',
  summary: 'Follow what happens in a thread.',
  description:
    'Server-sent events, each with its sequence as the SSE id, until either side closes or the thread is deleted. The latest 4,000 of a thread are kept.',
  tag,
  access: readers,
  surface,
  params: ThreadId,
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Only what came after this sequence; `Last-Event-ID` wins. Without either: all that is kept.',
      }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 32, description: 'The SSE id of the last event that was seen.' }),
    ),
  }),
  result: ThreadEvent,
  stream: { event: ThreadEvent, done: false, always: true },
  errors: ofOne,
});

export const stopThread = endpoint({
  id: 'stopThread',
  method: 'POST',
  path: '/v1/threads/{id}/stop',
  summary: 'End the run of a thread.',
  description: 'The call is cancelled, and what was made is charged. Of no effect where nothing runs.',
  tag,
  access: writers,
  surface,
  params: ThreadId,
  result: OneThread,
  errors: ofOne,
});

export type Thread = Static<typeof Thread>;
export type ThreadMessage = Static<typeof ThreadMessage>;
export type ThreadEvent = Static<typeof ThreadEvent>;
