import { RecentMap } from '../../../shared/recent-map.ts';
import type { ContentSelection } from '../../features/capture/index.ts';
import { ByteBlocks, type Piece } from './byte-blocks.ts';
import { type ContentRecord, isSelected, textsOf } from './content-record.ts';
import type { ContentShelf, ShelfStatus } from './content-shelf.ts';
import { pack, unpack } from './packed.ts';

/** What a record and a part take besides their bytes, and what a record takes whose call is not over, about. */
const recordBytes = 300;
const partBytes = 250;
const openRecordBytes = 3_000;
/** Requests of which is known that they were deleted. */
const deletedMax = 10_000;

interface Part {
  digest: string;
  piece: Piece;
  /** The call that introduced it. */
  number: number;
  /** How often records refer to it. */
  uses: number;
}

interface Kept {
  requestId: string;
  workspaceId: string;
  at: number;
  /** As JSON, packed, once the call is over: as objects, records take four times as much. */
  record: Piece | ContentRecord;
}

/** Keeps the newest calls in memory, up to a number of bytes. */
export class MemoryShelf implements ContentShelf {
  readonly #blocks = new ByteBlocks();
  readonly #parts = new Map<number, Part>();
  readonly #ids = new Map<string, number>();
  /** The oldest first. */
  readonly #records = new Map<number, Kept>();
  readonly #numbers = new Map<string, number>();
  readonly #deleted = new RecentMap<string, true>(deletedMax);
  #open = 0;
  #bytesMax = 0;
  #lastPart = 0;

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  status(workspaceId: string): ShelfStatus {
    const [oldest] = this.#of(workspaceId);
    return { calls: this.count(workspaceId), bytes: this.#bytes(), oldestAt: oldest?.at ?? null };
  }

  count(workspaceId: string): number {
    let calls = 0;
    for (const _ of this.#of(workspaceId)) calls += 1;
    return calls;
  }

  *#of(workspaceId: string): Iterable<Kept> {
    for (const kept of this.#records.values()) if (kept.workspaceId === workspaceId) yield kept;
  }

  setBytesMax(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#blocks.setBytesMax(bytesMax);
    this.#evict();
  }

  usePart(digest: string): number | undefined {
    const id = this.#ids.get(digest);
    const part = id === undefined ? undefined : this.#parts.get(id);
    if (part) part.uses += 1;
    return id;
  }

  addPart(digest: string, packed: Uint8Array, number: number): number {
    this.#lastPart += 1;
    this.#parts.set(this.#lastPart, { digest, piece: this.#blocks.add(packed), number, uses: 1 });
    this.#ids.set(digest, this.#lastPart);
    return this.#lastPart;
  }

  part(id: number): { packed: Uint8Array; number: number } | undefined {
    const part = this.#parts.get(id);
    return part && { packed: this.#blocks.read(part.piece), number: part.number };
  }

  hasPart(id: number): boolean {
    return this.#parts.has(id);
  }

  replacePart(id: number, packed: Uint8Array): void {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    this.#deletePart(id, part);
    this.#parts.set(id, { ...part, digest: '', piece: this.#blocks.add(packed) });
  }

  save(record: ContentRecord): void {
    const { number, requestId, workspaceId, at, isComplete } = record;
    const before = this.#records.get(number);
    if (before) this.#release(before);
    if (!isComplete) this.#open += 1;
    const kept = isComplete ? this.#blocks.add(pack(Buffer.from(JSON.stringify(record)))) : record;
    this.#records.set(number, { requestId, workspaceId, at, record: kept });
    this.#numbers.set(requestId, number);
    this.#evict();
  }

  find(requestId: string): ContentRecord | undefined {
    const number = this.#numbers.get(requestId);
    const kept = number === undefined ? undefined : this.#records.get(number);
    return kept && this.#recordOf(kept);
  }

  wasDeleted(requestId: string): boolean {
    return this.#deleted.has(requestId);
  }

  requestAt(number: number): string | undefined {
    return this.#records.get(number)?.requestId;
  }

  *newestFirst(workspaceId: string, before = Number.MAX_SAFE_INTEGER): Iterable<ContentRecord> {
    for (const number of [...this.#records.keys()].reverse()) {
      // Others may have made room while the caller waited.
      const kept = this.#records.get(number);
      if (kept?.workspaceId === workspaceId && number < before) yield this.#recordOf(kept);
    }
  }

  remove(record: ContentRecord): void {
    this.#delete([record]);
  }

  clear(selection: ContentSelection): number {
    const selected: Pick<ContentRecord, 'number' | 'requestId'>[] = [];
    for (const record of this.newestFirst(selection.workspaceId)) {
      const { number, requestId } = record;
      if (isSelected(record, selection)) selected.push({ number, requestId });
    }
    this.#delete(selected);
    return selected.length;
  }

  #delete(records: readonly Pick<ContentRecord, 'number' | 'requestId'>[]): void {
    const numbers = new Set(records.map(({ number }) => number));
    for (const [id, part] of this.#parts) if (numbers.has(part.number)) this.#deletePart(id, part);
    for (const { number, requestId } of records) {
      this.#forget(number);
      this.#deleted.set(requestId, true);
    }
  }

  #bytes(): number {
    const closed = this.#records.size - this.#open;
    return (
      this.#blocks.bytes + partBytes * this.#parts.size + recordBytes * closed + openRecordBytes * this.#open
    );
  }

  #recordOf({ record }: Kept): ContentRecord {
    if (!('block' in record)) return record;
    return JSON.parse(unpack(this.#blocks.read(record)).toString());
  }

  #evict(): void {
    for (const number of this.#records.keys()) {
      if (this.#bytes() <= this.#bytesMax) return;
      this.#forget(number);
    }
  }

  #forget(number: number): void {
    const kept = this.#records.get(number);
    if (kept === undefined) return;
    const texts = textsOf(this.#recordOf(kept));
    this.#release(kept);
    this.#records.delete(number);
    this.#numbers.delete(kept.requestId);
    for (const { parts } of texts) {
      for (const id of parts) {
        const part = this.#parts.get(id);
        if (part === undefined) continue;
        part.uses -= 1;
        if (part.uses <= 0) this.#deletePart(id, part);
      }
    }
  }

  /** Frees the memory of a record that is replaced or forgotten. */
  #release({ record }: Kept): void {
    if ('block' in record) this.#blocks.remove(record);
    else this.#open -= 1;
  }

  #deletePart(id: number, { digest, piece }: Part): void {
    this.#parts.delete(id);
    this.#ids.delete(digest);
    this.#blocks.remove(piece);
  }
}
