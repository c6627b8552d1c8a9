import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  AnyObject,
  deleted,
  listOf,
  nullable,
  OneLine,
  pageQuery,
  StrictObject,
  Timestamp,
} from './vocabulary.ts';

/** Stored conversations and their model calls. */

export const threadTitleMax = 255;

export const ThreadTitle = OneLine({
  maxLength: threadTitleMax,
  description: 'A title; by default the first user message.',
});

export const Thread = Type.Object(
  {
    id: Type.String({ description: '`th_…`' }),
    title: nullable(Type.String()),
    working: Type.Boolean({ description: 'Whether a model call in it is in progress.' }),
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
      description: 'The parts of a message; for other items, the item itself. Sealed content is omitted.',
    }),
    created_at: Timestamp,
  },
  { $id: 'ThreadMessage' },
);

/** An event of a thread. */
export const ThreadEvent = Type.Object(
  {
    type: Type.String({
      description:
        '`run_started`, `model_stream_started`, `model_finished`, `run_completed`, `run_failed` or `run_cancelled`.',
    }),
    sequence: Type.Integer({ minimum: 1, description: 'Increments by one within each thread.' }),
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
const readers = { apiKey: ['threads:read', 'threads'], login: 'any', agent: true } as const;
const writers = { apiKey: 'threads', login: 'any', agent: true } as const;

export const createThread = endpoint({
  id: 'createThread',
  method: 'POST',
  path: '/v1/threads',
  summary: 'Create a thread.',
  description: [
    'A conversation stored until it is deleted. A model call that names it, by `service.thread` in OpenAI’s formats or by',
    "`conversation` in the Responses format, is a run of it: the thread's content is the context, and the new input and the",
    'answer are appended when the run completes. A failed or cancelled run appends nothing. Only one run at a time: a',
    'second one returns 409 `conflict`, as does the thousandth and first thread of an agent. Keys need the scope `threads`.',
  ].join(' '),
  tag,
  access: writers,
  body: StrictObject({ title: Type.Optional(nullable(ThreadTitle)) }),
  result: OneThread,
  errors: ['conflict'],
});

export const listThreads = endpoint({
  id: 'listThreads',
  method: 'GET',
  path: '/v1/threads',
  summary: 'List threads.',
  description: 'Newest first.',
  tag,
  access: readers,
  query: Type.Object(pageQuery('th')),
  result: listOf(Thread),
});

export const getThread = endpoint({
  id: 'getThread',
  method: 'GET',
  path: '/v1/threads/{id}',
  summary: 'Show a thread.',
  description: 'Its run has ended when `working` is false.',
  tag,
  access: readers,
  params: ThreadId,
  result: OneThread,
});

export const updateThread = endpoint({
  id: 'updateThread',
  method: 'PATCH',
  path: '/v1/threads/{id}',
  summary: 'Change the title of a thread.',
  tag,
  access: writers,
  params: ThreadId,
  body: StrictObject({ title: nullable(ThreadTitle) }),
  bodyRequired: true,
  result: OneThread,
});

export const deleteThread = endpoint({
  id: 'deleteThread',
  method: 'DELETE',
  path: '/v1/threads/{id}',
  summary: 'Delete a thread.',
  description: 'Also deletes its messages, runs and events. A run in progress is cancelled first.',
  tag,
  access: writers,
  params: ThreadId,
  result: deleted('thread'),
});

export const listThreadMessages = endpoint({
  id: 'listThreadMessages',
  method: 'GET',
  path: '/v1/threads/{id}/messages',
  summary: 'List the messages of a thread.',
  description: 'Oldest first: the input and output items of its completed runs.',
  tag,
  access: readers,
  params: ThreadId,
  query: Type.Object(pageQuery('msg')),
  result: listOf(ThreadMessage),
});

export const followThread = endpoint({
  id: 'followThread',
  method: 'GET',
  path: '/v1/threads/{id}/events',
  summary: 'Stream the events of a thread.',
  description:
    'Server-sent events with their sequence as SSE id, until either side disconnects or the thread is deleted. The latest 4,000 events of a thread are stored.',
  tag,
  access: readers,
  params: ThreadId,
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Only events after this sequence; `Last-Event-ID` takes precedence. Default: all stored events.',
      }),
    ),
  }),
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: 32, description: 'The SSE id of the last event received.' }),
    ),
  }),
  result: ThreadEvent,
  stream: { event: ThreadEvent, done: false, always: true },
});

export const stopThread = endpoint({
  id: 'stopThread',
  method: 'POST',
  path: '/v1/threads/{id}/stop',
  summary: 'Cancel the run of a thread.',
  description: 'Output generated so far is charged. Does nothing if no run is in progress.',
  tag,
  access: writers,
  params: ThreadId,
  result: OneThread,
});

export type Thread = Static<typeof Thread>;
export type ThreadMessage = Static<typeof ThreadMessage>;
export type ThreadEvent = Static<typeof ThreadEvent>;
