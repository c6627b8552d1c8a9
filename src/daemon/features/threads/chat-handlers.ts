import {
  type Chat,
  type ChatMessage,
  createChat,
  getChat,
  listChatMessages,
  listChats,
  listRunEvents,
  listRuns,
  type Run,
  type RunEvent,
} from '../../../shared/contract/chats.ts';
import { ApiError } from '../../../shared/errors.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { formatUsd } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Caller, type Handler, implement, workspaceOf } from '../../base/handler.ts';
import type { ShownThread, Threads } from './threads.ts';
import type { MessageRecord, RunEventRecord, RunRecord, RunUsage } from './threads-store.ts';
import { readItem, textOf } from './views.ts';

interface ChatHandlersDeps {
  threads: Threads;
  /** The id of one of the caller's autopilots; fails with `not_found`. */
  autopilotNamed: (caller: Caller, reference: string) => Promise<string>;
}

/** Threads on the site API. */
export function chatHandlers({ threads, autopilotNamed }: ChatHandlersDeps): Handler[] {
  const { reads } = threads;
  return [
    implement(listChats, async ({ caller, query }) => {
      const page = { limit: Math.min(query.limit ?? 50, 200), after: undefined };
      return { data: (await threads.list(workspaceOf(caller), page)).map(toChat) };
    }),
    implement(createChat, async ({ caller, body }) => {
      const { title = null, autopilot } = body ?? {};
      const autopilotId = autopilot === undefined ? null : await autopilotNamed(caller, autopilot);
      return { data: toChat(await threads.create(caller, title, autopilotId)) };
    }),
    implement(getChat, async ({ caller, params }) => {
      return { data: toChat(await threads.get(workspaceOf(caller), params.conversationId)) };
    }),
    implement(listChatMessages, async ({ caller, params, query }) => {
      const { id } = await threads.get(workspaceOf(caller), params.conversationId);
      const limit = Math.min(query.limit ?? 50, 200);
      const found = await reads.messages(id, { limit, after: query.after });
      if (found) return { data: found.map(toMessage) };
      throw new ApiError('invalid_request', {
        param: 'after',
        message: 'There is no such message in this chat.',
      });
    }),
    implement(listRuns, async ({ caller, params, query }) => {
      const { id } = await threads.get(workspaceOf(caller), params.conversationId);
      return { data: (await reads.runs(id, Math.min(query.limit ?? 100, 500))).map(toRun) };
    }),
    implement(listRunEvents, async ({ caller, params, query }) => {
      const { id } = await threads.get(workspaceOf(caller), params.conversationId);
      const run = await reads.runOf(id, params.run);
      if (!run) throw notFound('run', params.run);
      const limit = Math.min(query.limit ?? 250, 1000);
      const found = await reads.events(id, { after: 0, limit, runId: run.id });
      return { data: found.map((event) => toRunEvent(event, run)) };
    }),
  ];
}

/** The caller's latest chats; none for a key or token without the scope to read them. */
export async function latestChats(
  threads: Threads,
  caller: Caller,
  limit: number,
): Promise<{ id: string; title: string; updatedAt: string }[]> {
  if (!mayRead(caller)) return [];
  const found = await threads.list(workspaceOf(caller), { limit, after: undefined });
  return found.map(({ id, title, updatedAt }) => ({ id, title: title ?? '', updatedAt: isoTime(updatedAt) }));
}

function mayRead(caller: Caller): boolean {
  if (caller.kind === 'key') return caller.scopes.has('runs:read') || caller.scopes.has('runs');
  return caller.kind !== 'token' || caller.abilities.has('*') || caller.abilities.has('chats:read');
}

function toChat({ id, title, isWorking, autopilotId, createdAt, updatedAt }: ShownThread): Chat {
  const times = { createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
  return { id, title, autopilotId, working: isWorking, ...times };
}

function toMessage({ id, runId, autopilotId, item, createdAt }: MessageRecord): ChatMessage {
  const read = readItem(item);
  const at = isoTime(createdAt);
  return {
    id,
    runId,
    autopilotId,
    role: read.role,
    content: textOf(read),
    meta: { type: read.type },
    createdAt: at,
    updatedAt: at,
  };
}

export function toRun(run: RunRecord): Run {
  const { meta } = run;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    id: run.id,
    chatId: run.threadId,
    status: run.status,
    autopilotId: run.autopilotId,
    autopilotConfigVersion: run.autopilotConfigVersion,
    provider: run.provider,
    modelProvider: run.provider,
    model: run.model,
    usage: run.usage && toUsage(run.usage),
    meta: {
      requestId: run.requestId,
      responseId: text(meta.response_id),
      finishReason: text(meta.finish_reason),
      endpoint: text(meta.endpoint) ?? '',
      keyId: text(meta.key),
      scheduledAt: text(meta.scheduled_at),
    },
    error: run.error,
    startedAt: isoTime(run.startedAt),
    completedAt: run.completedAt === null ? null : isoTime(run.completedAt),
    createdAt: isoTime(run.startedAt),
    updatedAt: isoTime(run.updatedAt),
  };
}

function toUsage({ tokens, cost, charged }: RunUsage): Run['usage'] {
  return {
    inputTokens: tokens.input,
    cachedInputTokens: tokens.cachedInput,
    cacheWriteTokens: tokens.cacheWrite,
    outputTokens: tokens.output,
    reasoningTokens: tokens.reasoning,
    totalTokens: tokens.input + tokens.output,
    costUsd: cost === null ? null : formatUsd(cost),
    chargedUsd: formatUsd(charged),
  };
}

function toRunEvent({ id, type, payload, at }: RunEventRecord, { autopilotId }: RunRecord): RunEvent {
  // What an autopilot does by itself, with its tools.
  const actor = /^(tool_call|payment)_/.test(type) ? autopilotId : null;
  return {
    id,
    type,
    autopilotId,
    actorType: actor === null ? 'system' : 'autopilot',
    actorAutopilotId: actor,
    payload,
    createdAt: isoTime(at),
  };
}
