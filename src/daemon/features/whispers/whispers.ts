import type { Whisper } from '../../../shared/contract/whispers.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { isoTime } from '../../../shared/time.ts';
import type { Caller } from '../../handler.ts';
import { type PersonRecord, type Persons, toReference } from '../profile/index.ts';
import { endOf, type RowFeed, rowEvent } from '../row-streams/index.ts';
import type { WhisperRecord, WhispersStore } from './whispers-store.ts';

export interface WhispersNeeds {
  store: WhispersStore;
  persons: Persons;
  feed: RowFeed;
  /** Told of each whisper once it is on disk. */
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

/** How many of those that were read together are told to followers. */
const toldAtOnceMax = 200;

/** Messages between two people. Those of others are not there. */
export function whispers(needs: WhispersNeeds) {
  const { store, persons, feed, now } = needs;

  const { own, peerOf } = finding(needs);

  return {
    async send(caller: Caller, wish: NewWhisper): Promise<WhisperRecord> {
      const me = await persons.of(caller);
      const { body } = wish;
      wellFormed(body, 'body');
      if (body.trim() === '') throw inputFault('body', 'must not be blank');
      const recipient = await recipientOf(persons, wish);
      if (recipient.number === me.number) throw fault(fieldOf(wish), 'Cannot whisper yourself.');
      const id = await store.insert({ sender: me.number, recipient: recipient.number, body, at: now() });
      for (const { number } of [me, recipient]) feed.announce(topicOf(number));
      needs.onCreated?.(recipient, id);
      return (await own(caller, id)).record;
    },

    async list(caller: Caller, reference: string | undefined, page: Page) {
      const me = await persons.of(caller);
      const peer = await peerOf(reference);
      const records = await store.list({ person: me.number, peer: peer?.number }, page);
      return { records, peer };
    },

    async threads(caller: Caller, page: Page) {
      const me = await persons.of(caller);
      const found = await store.threads(me.number, page);
      return found.map(({ last, unread }) => ({
        peer: last.sender.number === me.number ? last.recipient : last.sender,
        last,
        unread,
      }));
    },

    get: async (caller: Caller, id: number): Promise<WhisperRecord> => (await own(caller, id)).record,

    ...marking(needs),

    async follow(caller: Caller, after: number | undefined, signals: readonly AbortSignal[]) {
      const { number } = await persons.of(caller);
      return await feed.follow<WhisperRecord>({
        topic: topicOf(number),
        after,
        last: store.last,
        read: (page) => store.after(number, page),
        chunkOf: (record) => rowEvent('whisper.created', toWhisper(record), record.id),
        until: endOf(caller),
        signals,
      });
    },
  };
}

export type Whispers = ReturnType<typeof whispers>;

/** Whoever is asked about, as far as the caller may know of it. */
function finding({ store, persons }: WhispersNeeds) {
  const own = async (caller: Caller, id: number): Promise<{ me: PersonRecord; record: WhisperRecord }> => {
    const me = await persons.of(caller);
    const record = await store.find(id);
    if (!record || (record.sender.number !== me.number && record.recipient.number !== me.number)) {
      throw new ApiError('not_found');
    }
    return { me, record };
  };
  const peerOf = async (reference: string | undefined): Promise<PersonRecord | undefined> => {
    if (reference === undefined) return undefined;
    const peer = await persons.named(reference);
    if (!peer) throw new ApiError('not_found');
    return peer;
  };
  return { own, peerOf };
}

/** Reading, by the recipient alone. */
function marking(needs: WhispersNeeds) {
  const { store, persons, feed, now } = needs;
  const { own, peerOf } = finding(needs);
  const tellRead = (record: WhisperRecord) => {
    const chunk = rowEvent('whisper.read', toWhisper(record));
    for (const { number } of [record.sender, record.recipient]) feed.publish(topicOf(number), chunk);
  };

  return {
    /** Fails with `permission` for whoever sent it. */
    async markRead(caller: Caller, id: number): Promise<WhisperRecord> {
      const { me, record } = await own(caller, id);
      if (record.recipient.number !== me.number) throw new ApiError('permission');
      if (!(await store.markRead(id, now()))) return record;
      const { record: marked } = await own(caller, id);
      tellRead(marked);
      return marked;
    },

    /** How many it made read. */
    async markAllRead(caller: Caller, reference: string | undefined): Promise<number> {
      const me = await persons.of(caller);
      const peer = await peerOf(reference);
      const ids = await store.markAllRead({ person: me.number, peer: peer?.number }, now());
      for (const id of ids.slice(-toldAtOnceMax)) {
        const record = await store.find(id);
        if (record) tellRead(record);
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

async function recipientOf(persons: Persons, wish: NewWhisper): Promise<PersonRecord> {
  const { recipientId, recipientHandle } = wish;
  if ((recipientId === undefined) === (recipientHandle === undefined)) {
    throw fault('recipientId', 'Name exactly one of `recipientId` and `recipientHandle`.');
  }
  const found =
    recipientId === undefined
      ? await persons.byHandle(recipientHandle ?? '')
      : await persons.byNumber(recipientId);
  if (!found) throw new ApiError('not_found');
  return found;
}

function fault(param: string, message: string): ApiError {
  return new ApiError('invalid_request', { param, message });
}
