import type { Whisper } from '../../../shared/contract/whispers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Caller } from '../../base/handler.ts';
import { type People, type PersonRecord, toReference } from '../profile/index.ts';
import { expiryOf, type RowFeed, rowEvent } from '../row-streams/index.ts';
import type { WhisperRecord, WhispersStore } from './store.ts';

export interface WhispersDeps {
  store: WhispersStore;
  people: People;
  feed: RowFeed;
  /** Called with each whisper once it is on disk. */
  onCreated?: (recipient: PersonRecord, id: number) => void;
  now: () => number;
}

export interface NewWhisper {
  body: string;
  recipientId?: number | undefined;
  recipientHandle?: string | undefined;
}

interface Page {
  limit: number;
  before: number | undefined;
}

/** Of the whispers marked read together, the number announced to followers at most. */
const announcedMax = 200;

/** Messages between two people, visible only to them. */
export function createWhispers(deps: WhispersDeps) {
  const { store, people, feed, now } = deps;

  const { own, peerOf } = lookups(deps);

  return {
    async send(caller: Caller, request: NewWhisper): Promise<WhisperRecord> {
      const me = await people.of(caller);
      const { body } = request;
      wellFormed(body, 'body');
      if (body.trim() === '') throw inputFault('body', 'must not be blank');
      const recipient = await recipientOf(people, request);
      if (recipient.number === me.number) throw fault(fieldOf(request), 'Cannot whisper yourself.');
      const id = await store.insert({ sender: me.number, recipient: recipient.number, body, at: now() });
      for (const { number } of [me, recipient]) feed.announce(topicOf(number));
      deps.onCreated?.(recipient, id);
      return (await own(caller, id)).record;
    },

    async list(caller: Caller, reference: string | undefined, page: Page) {
      const me = await people.of(caller);
      const peer = await peerOf(reference);
      const records = await store.list({ person: me.number, peer: peer?.number }, page);
      return { records, peer };
    },

    async threads(caller: Caller, page: Page) {
      const me = await people.of(caller);
      const found = await store.threads(me.number, page);
      return found.map(({ last, unread }) => ({
        peer: last.sender.number === me.number ? last.recipient : last.sender,
        last,
        unread,
      }));
    },

    get: async (caller: Caller, id: number): Promise<WhisperRecord> => (await own(caller, id)).record,

    ...readMarkers(deps),

    async follow(caller: Caller, after: number | undefined, signals: readonly AbortSignal[]) {
      const { number } = await people.of(caller);
      return await feed.follow<WhisperRecord>({
        topic: topicOf(number),
        after,
        last: store.last,
        read: (page) => store.after(number, page),
        chunkOf: (record) => rowEvent('whisper.created', toWhisper(record), record.id),
        until: expiryOf(caller),
        signals,
      });
    },
  };
}

export type Whispers = ReturnType<typeof createWhispers>;

/** Finds whispers that are visible to the caller, and people. */
function lookups({ store, people }: WhispersDeps) {
  const own = async (caller: Caller, id: number): Promise<{ me: PersonRecord; record: WhisperRecord }> => {
    const me = await people.of(caller);
    const record = await store.find(id);
    if (!record || (record.sender.number !== me.number && record.recipient.number !== me.number)) {
      throw new ApiError('not_found');
    }
    return { me, record };
  };
  const peerOf = async (reference: string | undefined): Promise<PersonRecord | undefined> => {
    if (reference === undefined) return undefined;
    const peer = await people.named(reference);
    if (!peer) throw new ApiError('not_found');
    return peer;
  };
  return { own, peerOf };
}

/** Marks whispers as read; only the recipient can. */
function readMarkers(deps: WhispersDeps) {
  const { store, people, feed, now } = deps;
  const { own, peerOf } = lookups(deps);
  const announceRead = (record: WhisperRecord) => {
    const chunk = rowEvent('whisper.read', toWhisper(record));
    for (const { number } of [record.sender, record.recipient]) feed.publish(topicOf(number), chunk);
  };

  return {
    /** Fails with `permission` for the sender. */
    async markRead(caller: Caller, id: number): Promise<WhisperRecord> {
      const { me, record } = await own(caller, id);
      if (record.recipient.number !== me.number) throw new ApiError('permission');
      if (!(await store.markRead(id, now()))) return record;
      const { record: marked } = await own(caller, id);
      announceRead(marked);
      return marked;
    },

    /** Returns the number of whispers that were unread. */
    async markAllRead(caller: Caller, reference: string | undefined): Promise<number> {
      const me = await people.of(caller);
      const peer = await peerOf(reference);
      const ids = await store.markAllRead({ person: me.number, peer: peer?.number }, now());
      for (const id of ids.slice(-announcedMax)) {
        const record = await store.find(id);
        if (record) announceRead(record);
      }
      return ids.length;
    },
  };
}

const topicOf = (number: number) => `whispers of ${number}`;

export function toWhisper(record: WhisperRecord): Whisper {
  return {
    body: record.body,
    createdAt: isoTime(record.createdAt),
    id: record.id,
    readAt: record.readAt === null ? null : isoTime(record.readAt),
    recipient: toReference(record.recipient),
    sender: toReference(record.sender),
    updatedAt: isoTime(record.updatedAt),
  };
}

const fieldOf = ({ recipientId }: NewWhisper) =>
  recipientId === undefined ? 'recipientHandle' : 'recipientId';

async function recipientOf(people: People, request: NewWhisper): Promise<PersonRecord> {
  const { recipientId, recipientHandle } = request;
  const found =
    recipientId === undefined
      ? await people.byHandle(recipientHandle ?? '')
      : await people.byNumber(recipientId);
  if (!found) throw new ApiError('not_found');
  return found;
}

function fault(param: string, message: string): ApiError {
  return new ApiError('invalid_request', { param, message });
}
