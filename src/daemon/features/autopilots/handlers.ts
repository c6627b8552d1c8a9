import {
  type Autopilot,
  type AutopilotDetails,
  type AutopilotRun,
  type AutopilotRunEntry,
  archiveAutopilot,
  cancelAutopilotRun,
  createAutopilot,
  getAutopilot,
  getAutopilotRun,
  type ListedAutopilot,
  listAutopilotRuns,
  listAutopilots,
  listDirectory,
  runAutopilot,
  runChat,
  updateAutopilot,
} from '../../../shared/contract/autopilots.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import { formatUsd } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Call, type Handler, implement, RelayReply } from '../../base/handler.ts';
import type { Idempotency } from '../idempotency/index.ts';
import type { KeyUse } from '../metering/index.ts';
import { toReference } from '../profile/index.ts';
import { type RunRecord, toRun } from '../threads/index.ts';
import type { AutopilotRuns, ShownRun } from './autopilot-runs.ts';
import type { Autopilots } from './autopilots.ts';
import type { AutopilotRecord, ListedRecord, OccurrenceRecord } from './store.ts';

const pageSizeDefault = 100;
const directoryPageSize = 50;

interface AutopilotHandlersDeps {
  autopilots: Autopilots;
  runs: AutopilotRuns;
  idempotency: Pick<Idempotency, 'once'>;
  /** What an autopilot's model calls were charged. */
  usedBy(autopilotId: string): Promise<Pick<KeyUse, 'spend'>>;
}

export function autopilotHandlers({
  autopilots,
  runs,
  idempotency,
  usedBy,
}: AutopilotHandlersDeps): Handler[] {
  const toDetails = async (record: AutopilotRecord): Promise<AutopilotDetails> => {
    const { profile, policy, schedule } = record;
    const { day, month, total } = (await usedBy(record.id)).spend;
    const modelSpend = { dayUsd: formatUsd(day), monthUsd: formatUsd(month), totalUsd: formatUsd(total) };
    return { ...toAutopilot(record), profile, policy, schedule, modelSpend };
  };
  return [
    implement(listAutopilots, async ({ caller, query }) => {
      const limit = Math.min(query.limit ?? pageSizeDefault, pageSizeMax);
      const records = await autopilots.list(caller, { limit, status: query.status });
      return { data: records.map(toAutopilot) };
    }),
    implement(listDirectory, async ({ caller, query }) => {
      const limit = Math.min(query.limit ?? directoryPageSize, pageSizeMax);
      const records = await autopilots.directory(caller, { limit, before: query.before_id });
      const nextCursor = records.length < limit ? null : (records.at(-1)?.id ?? null);
      return { data: records.map(toListed), meta: { nextCursor } };
    }),
    implement(createAutopilot, async ({ caller, body }) => ({
      data: await toDetails(await autopilots.create(caller, body)),
    })),
    implement(getAutopilot, async ({ caller, params }) => ({
      data: await toDetails(await autopilots.find(caller, params.autopilot)),
    })),
    implement(updateAutopilot, async ({ caller, params, body }) => ({
      data: await toDetails(await autopilots.change(caller, params.autopilot, body)),
    })),
    implement(archiveAutopilot, async ({ caller, params }) => ({
      data: await toDetails(await autopilots.archive(caller, params.autopilot)),
    })),
    implement(runAutopilot, (call) =>
      once(idempotency, call, runAutopilot, (asked) => runs.start(asked, call.params.autopilot, call.body)),
    ),
    implement(runChat, (call) =>
      once(idempotency, call, runChat, (asked) =>
        runs.startInChat(asked, call.params.conversationId, call.body),
      ),
    ),
    implement(listAutopilotRuns, async ({ caller, params, query }) => {
      const limit = Math.min(query.limit ?? pageSizeDefault, pageSizeMax);
      return { data: (await runs.list(caller, params.autopilot, limit)).map(toEntry) };
    }),
    implement(getAutopilotRun, async ({ caller, params }) => ({
      data: toAutopilotRun(await runs.get(caller, params.autopilot, params.run)),
    })),
    implement(cancelAutopilotRun, async ({ caller, params }) => ({
      data: toAutopilotRun(await runs.cancel(caller, params.autopilot, params.run)),
    })),
  ];
}

/** Starts a run once for an Idempotency-Key. Its path, which names the autopilot or chat, is part of the request. */
async function once<E extends typeof runAutopilot | typeof runChat>(
  idempotency: Pick<Idempotency, 'once'>,
  call: Pick<Call<E>, 'caller' | 'requestId' | 'headers' | 'signal' | 'body'> & { params: object },
  { method, path }: E,
  start: (asked: Parameters<AutopilotRuns['start']>[0]) => Promise<ShownRun>,
): Promise<RelayReply> {
  const { caller, requestId, headers, signal, body, params } = call;
  const [subject = ''] = Object.values(params) as string[];
  const endpoint = { method, path: path.replace(/\{\w+\}/, subject) };
  const reply = await idempotency.once(
    { caller, requestId, headers, signal, body, endpoint, isStreamed: false },
    async () => {
      const run = toAutopilotRun(await start({ caller, requestId, endpoint: path }));
      return new RelayReply({}, JSON.stringify({ data: run }));
    },
  );
  return reply;
}

function toAutopilotRun({ run, output }: ShownRun): AutopilotRun {
  return { ...toRun(run), output };
}

function toListed({ owner, createdAt, ...record }: ListedRecord): ListedAutopilot {
  return { ...record, owner: toReference(owner), createdAt: isoTime(createdAt) };
}

function toAutopilot(record: AutopilotRecord): Autopilot {
  return {
    avatar: record.avatar,
    configVersion: record.configVersion,
    createdAt: isoTime(record.createdAt),
    displayName: record.displayName,
    handle: record.handle,
    id: record.id,
    nextRunAt: record.nextRunAt === null ? null : isoTime(record.nextRunAt),
    ownerUserId: record.owner,
    status: record.status,
    tagline: record.tagline,
    updatedAt: isoTime(record.updatedAt),
    visibility: record.visibility,
  };
}

/** A run, or what was not run, in the form of one. */
function toEntry(entry: RunRecord | OccurrenceRecord): AutopilotRunEntry {
  if (!('dueAt' in entry)) return { ...toRun(entry), notRun: null };
  const { id, autopilotId, dueAt, lastDueAt, count, reason } = entry;
  const [firstAt, lastAt, createdAt] = [isoTime(dueAt), isoTime(lastDueAt), isoTime(entry.createdAt)];
  return {
    id,
    chatId: null,
    status: entry.status === 'skipped' ? 'skipped' : 'missed',
    autopilotId,
    autopilotConfigVersion: null,
    provider: null,
    modelProvider: null,
    model: '',
    usage: null,
    meta: {
      requestId: '',
      responseId: null,
      finishReason: null,
      endpoint: '',
      keyId: null,
      scheduledAt: firstAt,
    },
    error: reason,
    startedAt: firstAt,
    completedAt: null,
    createdAt,
    updatedAt: createdAt,
    notRun: { count, firstAt, lastAt },
  };
}
