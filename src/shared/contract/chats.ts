import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf } from './site.ts';
import { ThreadTitle } from './threads.ts';
import { AnyObject, nullable, StrictObject, Timestamp, Usd } from './vocabulary.ts';

/** Threads in the form of the site API: chats and their runs. */

export const Chat = Type.Object(
  {
    id: Type.String({ description: '`th_…`; a chat is a thread.' }),
    title: nullable(Type.String()),
    autopilotId: nullable(Type.String({ description: '`ap_…`: the autopilot that it is addressed to.' })),
    working: Type.Boolean({ description: 'Whether a run is in progress.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Chat' },
);

export const ChatMessage = Type.Object(
  {
    id: Type.String({ description: '`msg_…`' }),
    runId: Type.String({ description: '`run_…`' }),
    autopilotId: nullable(Type.String({ description: 'The autopilot whose run added it.' })),
    role: Type.String({ description: '`user`, `system`, `developer`, `assistant` or `tool`.' }),
    content: Type.String({ description: 'The text content.' }),
    meta: Type.Object({
      type: Type.String({ description: '`message`, `function_call`, …, as in the Responses format.' }),
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'ChatHistoryMessage' },
);

const Tokens = Type.Integer({ minimum: 0 });

/** One model call in a chat, or one run of an autopilot. */
export const Run = Type.Object(
  {
    id: Type.String({ description: '`run_…`' }),
    chatId: Type.String({ description: '`th_…`' }),
    status: Type.Enum(['running', 'completed', 'failed', 'cancelled']),
    autopilotId: nullable(Type.String({ description: '`ap_…`; null for a model call.' })),
    autopilotConfigVersion: nullable(
      Type.Integer({ description: 'The version of its profile and policy when the run started.' }),
    ),
    provider: nullable(Type.String({ description: 'The provider that answered; null until one has.' })),
    modelProvider: nullable(Type.String({ description: 'Same as `provider`.' })),
    model: Type.String(),
    usage: nullable(
      Type.Object({
        inputTokens: Tokens,
        cachedInputTokens: Tokens,
        cacheWriteTokens: Tokens,
        outputTokens: Tokens,
        reasoningTokens: Tokens,
        totalTokens: Tokens,
        costUsd: nullable(Usd),
        chargedUsd: Usd,
      }),
    ),
    meta: Type.Object({
      requestId: Type.String({
        description:
          '`req_…`, for usage and traces. The calls of an autopilot have their own, in `model_finished`.',
      }),
      responseId: nullable(Type.String()),
      finishReason: nullable(
        Type.String({ description: '`stop`, `max_output_tokens` or `content_filter`.' }),
      ),
      endpoint: Type.String({ description: 'The path of the call; empty for a run of a schedule.' }),
      keyId: nullable(Type.String({ description: 'The calling key; null for a login.' })),
      scheduledAt: nullable(
        Type.String({
          format: 'date-time',
          description: 'The time of the autopilot’s schedule at which the run was due; null for other runs.',
        }),
      ),
    }),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    startedAt: Timestamp,
    completedAt: nullable(Timestamp),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { $id: 'Run' },
);

export const RunEvent = Type.Object(
  {
    id: Type.String({ description: '`evt_…`' }),
    type: Type.String({
      description:
        '`run_started`, `model_stream_started`, `model_finished`, `run_completed`, `run_failed` or `run_cancelled`. In runs of autopilots also `tool_call_started`, `tool_call_succeeded`, `tool_call_failed`, `payment_succeeded`, `payment_pending` and `payment_failed`.',
    }),
    autopilotId: nullable(Type.String()),
    actorType: Type.Enum(['system', 'autopilot'], { description: 'Whether the autopilot used a tool.' }),
    actorAutopilotId: nullable(Type.String()),
    payload: AnyObject,
    createdAt: Timestamp,
  },
  { $id: 'RunEvent' },
);

const readers = { apiKey: ['runs:read', 'runs'], login: 'any', token: 'chats:read', agent: true } as const;
const writers = { apiKey: 'runs', login: 'any', token: 'chats:write', agent: true } as const;
const tag = 'Chats';

/** The `limit` parameter; larger values are reduced to the cap. */
function limit(usual: number, cap: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Page size; default ${usual}, at most ${cap}.`,
    }),
  );
}

const chatId = Type.String({ minLength: 1, maxLength: 64, description: 'The id of a chat: `th_…`.' });

export const listChats = endpoint({
  id: 'listChats',
  method: 'GET',
  path: '/api/chats',
  summary: 'List chats.',
  description: 'Newest first.',
  tag,
  access: readers,
  query: Type.Object({ limit: limit(50, 200) }),
  result: dataOf(Type.Array(Chat)),
});

export const createChat = endpoint({
  id: 'createChat',
  method: 'POST',
  path: '/api/chats',
  summary: 'Create a chat.',
  description:
    'A chat is a thread; model calls that name its id in `service.thread` or `conversation` are its runs.',
  tag,
  access: writers,
  body: StrictObject({
    title: Type.Optional(nullable(ThreadTitle)),
    autopilot: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The id or handle of one of your autopilots: `POST /api/chats/{conversationId}/runs` then runs it.',
      }),
    ),
  }),
  result: dataOf(Chat),
  errors: ['conflict'],
});

export const getChat = endpoint({
  id: 'getChat',
  method: 'GET',
  path: '/api/chats/{conversationId}',
  summary: 'Show a chat.',
  tag,
  access: readers,
  params: Type.Object({ conversationId: chatId }),
  result: dataOf(Chat),
});

export const listChatMessages = endpoint({
  id: 'listChatMessages',
  method: 'GET',
  path: '/api/chats/{conversationId}/messages',
  summary: 'List the messages of a chat.',
  description: 'Oldest first.',
  tag,
  access: readers,
  params: Type.Object({ conversationId: chatId }),
  query: Type.Object({
    limit: limit(50, 200),
    after: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only messages after the one with this id.' }),
    ),
  }),
  result: dataOf(Type.Array(ChatMessage)),
});

export const listRuns = endpoint({
  id: 'listRuns',
  method: 'GET',
  path: '/api/chats/{conversationId}/runs',
  summary: 'List the runs of a chat.',
  description: 'Newest first. The latest 1,000 runs of a chat are stored.',
  tag,
  access: readers,
  params: Type.Object({ conversationId: chatId }),
  query: Type.Object({ limit: limit(100, 500) }),
  result: dataOf(Type.Array(Run)),
});

export const listRunEvents = endpoint({
  id: 'listRunEvents',
  method: 'GET',
  path: '/api/chats/{conversationId}/runs/{run}/events',
  summary: 'List the events of a run.',
  description: 'Oldest first.',
  tag,
  access: readers,
  params: Type.Object({
    conversationId: chatId,
    run: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The id of one of the chat’s runs: `run_…`.',
    }),
  }),
  query: Type.Object({ limit: limit(250, 1000) }),
  result: dataOf(Type.Array(RunEvent)),
});

export type Chat = Static<typeof Chat>;
export type ChatMessage = Static<typeof ChatMessage>;
export type Run = Static<typeof Run>;
export type RunEvent = Static<typeof RunEvent>;
