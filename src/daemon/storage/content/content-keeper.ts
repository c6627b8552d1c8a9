import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { AnswerAssembler } from '../../../shared/formats/assemble-answer.ts';
import { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { keptHeadersIn, secretsOfRequest } from '../../../shared/masking/mask-headers.ts';
import { maskUrl } from '../../../shared/masking/mask-text.ts';
import type { RemovedKind } from '../../../shared/masking/redaction-kinds.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type {
  AnsweredContent,
  AskedContent,
  AttemptContent,
  CallContent,
  Composition,
  ContentPage,
  ContentPreview,
  ContentRead,
  ContentSelection,
  ContentText,
  StreamedContent,
} from '../../features/capture/index.ts';
import { freeMemory } from '../../runtime/own-memory.ts';
import { type ComposedRequest, changesSince, composeRequest, openingOf } from './composition.ts';
import { type ContentRecord, isSelected, type StoredAttempt, type StoredText } from './content-record.ts';
import type { ContentShelf } from './content-shelf.ts';
import type { ContentShelves, Located } from './content-shelves.ts';
import { eraseRepeated } from './erase-repeated.ts';
import { pack, unpack, wasCut } from './packed.ts';
import { previewOf } from './preview.ts';
import type { Redactor } from './redactor.ts';
import { splitJson } from './split-json.ts';

/** The call that introduces a part, and where it is kept. */
interface PartOwner {
  shelf: ContentShelf;
  workspaceId: string;
  number: number;
  /** What was removed from its texts. */
  removed: Set<RemovedKind>;
  /** The secrets of the call. */
  known: KnownSecrets;
}

interface Slice {
  /** The character after it. */
  end: number;
  /** The call that introduced it. */
  number: number;
}

/** Streams that go on, of which a part was handed over. */
const streamsMax = 4_096;
/** How many earlier calls are looked at, to find the one before; a few of them however long it takes. */
const candidatesMax = 200;
const candidatesMin = 16;

/** Turns what was captured into records without credentials, and records into what is shown. */
export class ContentKeeper {
  readonly #shelves: ContentShelves;
  /** Makes digests useless for guessing a text, and different for each workspace. */
  readonly #key: Uint8Array;

  readonly #redactor: () => Redactor;
  /** Of which more was handed over than is kept, the oldest are forgotten: their end was dropped. */
  readonly #streams = new RecentMap<string, AssembledStream>(streamsMax);
  /** The secrets of calls that go on, which their answers may repeat. */
  readonly #known = new RecentMap<string, KnownSecrets>(streamsMax);

  constructor(shelves: ContentShelves, key: Uint8Array, redactor: () => Redactor) {
    this.#shelves = shelves;
    this.#key = key;
    this.#redactor = redactor;
  }

  asked({ headers, body, attempts, ...call }: AskedContent): void {
    const shelf = this.#shelves.of(call.level);
    if (shelf === undefined) return;
    const number = this.#shelves.numbers.next();
    const removed = new Set<RemovedKind>();
    const known = new KnownSecrets(attempts.flatMap((attempt) => secretsOfRequest(attempt).values));
    this.#known.set(call.requestId, known);
    const owner = { shelf, workspaceId: call.workspaceId, number, removed, known };
    // The body comes first, as it has secrets that providers repeat.
    const stored = this.#store(body, owner);
    const record: ContentRecord = {
      ...call,
      number,
      headers: this.#clean(headers, owner),
      body: stored,
      attempts: attempts.map((attempt) => this.#attempt(attempt, owner)),
      answer: null,
      isStream: false,
      isCut: false,
      isComplete: false,
      reads: null,
    };
    shelf.save({ ...record, redacted: [...removed] });
  }

  streamed({ requestId, events, reads }: StreamedContent): void {
    if (this.#shelves.find(requestId) === undefined) return;
    const stream = this.#streams.get(requestId) ?? new AssembledStream();
    this.#streams.set(requestId, stream);
    stream.add(events, reads);
  }

  answered({ requestId, answer, isStream, isCut, reads, wire }: AnsweredContent): void {
    const stream = this.#streams.get(requestId) ?? new AssembledStream();
    this.#streams.delete(requestId);
    const known = this.#known.get(requestId);
    this.#known.delete(requestId);
    const located = this.#shelves.find(requestId);
    // It was not kept, has been deleted, or was asked before this thread started, which does not know its secrets.
    if (located === undefined || known === undefined) return;
    const { shelf, record } = located;
    const removed = new Set<RemovedKind>();
    const owner = { shelf, workspaceId: record.workspaceId, number: record.number, removed, known };
    if (isStream && typeof answer === 'string') stream.add(answer, reads);
    const assembled = isStream ? stream.end() : { text: answer, reads: undefined };
    const stored = this.#store(assembled.text, owner);
    // The pieces of a stream may have in part what was removed from the whole.
    const raw = removed.size === 0 ? wire : undefined;
    const kept = raw && {
      received: this.#store(raw.received || undefined, owner),
      sent: this.#store(raw.sent || undefined, owner),
      isCut: raw.isCut,
    };
    shelf.save({
      ...record,
      answer: stored,
      redacted: [...new Set([...(record.redacted ?? []), ...removed])],
      ...(kept && { wire: kept }),
      isStream,
      isCut,
      reads: this.#store(assembled.reads && JSON.stringify(assembled.reads), owner),
      isComplete: true,
    });
  }

  find(workspaceId: string, requestId: string, page = whole): CallContent | undefined {
    const located = this.#located(workspaceId, requestId);
    if (located === undefined) return undefined;
    const { shelf, record } = located;
    const {
      number: _number,
      workspaceId: _workspace,
      user: _user,
      conversation: _conversation,
      ...content
    } = record;
    const shown = (part: ContentPage['part'], text: StoredText | null) =>
      page.part === undefined || page.part === part ? show(shelf, text, page) : null;
    return {
      ...content,
      redacted: record.redacted ?? [],
      body: shown('request', record.body),
      answer: shown('answer', record.answer),
      wire: record.wire
        ? {
            ...record.wire,
            received: shown('wire', record.wire.received),
            sent: shown('wire', record.wire.sent),
          }
        : null,
      reads: page.part === undefined || page.part === 'timing' ? readsIn(shelf, record.reads) : [],
      attempts: record.attempts.map((attempt) => ({
        ...attempt,
        body: shown('attempts', attempt.body),
        refusal: shown('attempts', attempt.refusal),
      })),
    };
  }

  previews(workspaceId: string, requestIds: readonly string[]): ContentPreview[] {
    return requestIds.flatMap((requestId) => {
      const located = this.#located(workspaceId, requestId);
      return located ? [previewOf(located.shelf, located.record)] : [];
    });
  }

  /** Looks for the request before it until `untilMs`. */
  compose(workspaceId: string, requestId: string, untilMs: number): Composition | null | undefined {
    const located = this.#located(workspaceId, requestId);
    if (located === undefined) return undefined;
    const { shelf, record } = located;
    const { text, slices } = slicesOf(shelf, record.body);
    const composed = composeRequest(text);
    if (composed === undefined) return null;
    const parts = [...composed.items.flat(), ...composed.parameters];
    return {
      parts: parts.map(({ start, end, ...part }) => {
        const latest = latestOf(slices, start, end);
        return {
          ...part,
          at: start,
          characters: end - start,
          hash: this.#digest(workspaceId, Buffer.from(text.slice(start, end))),
          firstSeenIn: shelf.requestAt(latest) ?? null,
        };
      }),
      previous: previousOf(located, composed, untilMs),
    };
  }

  /** Returns whether there was something; yields now and then, as later calls that repeat it are changed. */
  *remove(workspaceId: string, requestId: string): Generator<void, boolean> {
    if (this.#located(workspaceId, requestId) === undefined) return false;
    yield* eraseRepeated(this.#shelves, workspaceId, (record) => record.requestId === requestId);
    const located = this.#located(workspaceId, requestId);
    located?.shelf.remove(located.record);
    return true;
  }

  select(selection: ContentSelection): string[] {
    const found: string[] = [];
    for (const { record } of this.#shelves.newestFirst(selection.workspaceId))
      if (isSelected(record, selection)) found.push(record.requestId);
    return found;
  }

  /** Returns how many calls it deleted; yields as `remove`. */
  *clear(selection: ContentSelection): Generator<void, number> {
    const { workspaceId, ...conditions } = selection;
    const isWhole = Object.values(conditions).every((condition) => condition === undefined);
    if (!isWhole) yield* eraseRepeated(this.#shelves, workspaceId, (record) => isSelected(record, selection));
    return this.#shelves.all().reduce((sum, shelf) => sum + shelf.clear(selection), 0);
  }

  #located(workspaceId: string, requestId: string): Located | undefined {
    const located = this.#shelves.find(requestId);
    return located?.record.workspaceId === workspaceId ? located : undefined;
  }

  #attempt({ body, refusal, url, headers, ...attempt }: AttemptContent, owner: PartOwner): StoredAttempt {
    return {
      ...attempt,
      url: this.#clean([maskUrl(url)], owner)[0] ?? '',
      headers: this.#clean(keptHeadersIn(headers), owner),
      received: this.#clean(attempt.received, owner),
      body: this.#store(body, owner),
      refusal: this.#store(refusal, owner),
    };
  }

  #clean(texts: readonly string[], { known, removed }: PartOwner): string[] {
    return texts.map((text) => this.#redactor().clean(text, known, removed));
  }

  #store(
    content: Uint8Array | string | undefined,
    { shelf, workspaceId, number, removed, known }: PartOwner,
  ): StoredText | null {
    if (content === undefined) return null;
    const text = typeof content === 'string' ? content : textOf(content);
    const clean = this.#redactor().clean(text, known, removed);
    const isUnchanged = typeof content !== 'string' && clean === text && isUtf8(content);
    const bytes = isUnchanged ? content : Buffer.from(clean);
    const parts = splitJson(bytes).map((part) => {
      const digest = this.#digest(workspaceId, part);
      return shelf.usePart(digest, number) ?? addPart(shelf, digest, part, number);
    });
    const stored = { bytes: bytes.length, parts };
    if (!isUnchanged) freeMemory(bytes);
    return stored;
  }

  #digest(workspaceId: string, part: Uint8Array): string {
    const keyed = createHash('sha256').update(this.#key).update(workspaceId).update(part);
    return keyed.digest('base64url').slice(0, 22);
  }
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

function addPart(shelf: ContentShelf, digest: string, part: Uint8Array, number: number): number {
  const packed = pack(part);
  const id = shelf.addPart(digest, packed, number);
  freeMemory(packed);
  return id;
}

/** A text, and which call introduced which of its characters. */
function slicesOf(shelf: ContentShelf, stored: StoredText | null): { text: string; slices: Slice[] } {
  let text = '';
  const slices: Slice[] = [];
  for (const id of stored?.parts ?? []) {
    const part = shelf.part(id);
    if (part === undefined) continue;
    text += unpack(part.packed).toString();
    slices.push({ end: text.length, number: part.number });
  }
  return { text, slices };
}

/** The call that introduced the newest of these characters. */
function latestOf(slices: readonly Slice[], start: number, end: number): number {
  let latest = 0;
  let sliceStart = 0;
  for (const slice of slices) {
    if (sliceStart < end && slice.end > start) latest = Math.max(latest, slice.number);
    sliceStart = slice.end;
  }
  return latest;
}

/** Compares a request with the one before it in its conversation, which is named or begins with the same message. */
function previousOf(
  { shelf, record }: Located,
  composed: ComposedRequest,
  untilMs: number,
): Composition['previous'] {
  const opening = openingOf(composed);
  let looked = 0;
  let seen = 0;
  for (const earlier of shelf.newestFirst(record.workspaceId, record.number)) {
    seen += 1;
    if (looked >= candidatesMax || (seen > candidatesMin && performance.now() > untilMs)) return null;
    const { keyId, endpoint, conversation } = earlier;
    if (endpoint !== record.endpoint || conversation !== record.conversation) continue;
    if (conversation === null && keyId !== record.keyId) continue;
    looked += 1;
    const before = composeRequest(slicesOf(shelf, earlier.body).text);
    if (before === undefined) continue;
    const isSame = conversation !== null || (opening !== undefined && openingOf(before) === opening);
    if (!isSame) continue;
    const { requestId, at } = earlier;
    return { requestId, at, ...changesSince(before, composed, endpoint) };
  }
  return null;
}

const whole: ContentPage = { part: undefined, at: 0, limit: Number.MAX_SAFE_INTEGER };

/** A page ends between characters, and not within a pair of surrogates. */
function show(
  shelf: ContentShelf,
  stored: StoredText | null,
  { at, limit }: Pick<ContentPage, 'at' | 'limit'>,
): ContentText | null {
  if (stored === null) return null;
  let text = '';
  /** Characters before these. */
  let passed = 0;
  let isPartial = false;
  for (const id of stored.parts) {
    // Parts after the page are not unpacked.
    const isNeeded = passed + text.length <= at + limit;
    const part = isNeeded ? shelf.part(id) : undefined;
    if (part === undefined) isPartial ||= isNeeded || !shelf.hasPart(id);
    else {
      isPartial ||= wasCut(part.packed);
      text += unpack(part.packed).toString();
      if (passed + text.length <= at) {
        passed += text.length;
        text = '';
      }
    }
  }
  let end = Math.min(at + limit - passed, text.length);
  const start = at - passed;
  if (end < text.length && end > start + 1 && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
  const next = end < text.length ? passed + end : null;
  return { bytes: stored.bytes, text: text.slice(start, end).toWellFormed(), next, isPartial };
}

function readsIn(shelf: ContentShelf, stored: StoredText | null): ContentRead[] {
  const shown = show(shelf, stored, whole);
  if (shown === null || shown.isPartial) return [];
  const numbers = JSON.parse(shown.text) as number[];
  const reads: ContentRead[] = [];
  for (let at = 0; at < numbers.length; at += 3) {
    const [ms = 0, bytes = 0, characters = 0] = numbers.slice(at, at + 3);
    reads.push({ ms, bytes, characters });
  }
  return reads;
}

/** Assembles the whole answer of a stream, and notes how much of its text each read had. */
class AssembledStream {
  readonly #assembler = new AnswerAssembler();
  readonly #reads: number[] = [];

  add(events: string, lengths: readonly number[]): void {
    let start = 0;
    for (let at = 0; at < lengths.length; at += 2) {
      const [ms = 0, length = 0] = lengths.slice(at, at + 2);
      const text = events.slice(start, start + length);
      start += length;
      this.#reads.push(ms, Buffer.byteLength(text), this.#assembler.push(text));
    }
  }

  end(): { text: string | undefined; reads: number[] } {
    const answer = this.#assembler.answer();
    return { text: answer && JSON.stringify(answer), reads: this.#reads };
  }
}
