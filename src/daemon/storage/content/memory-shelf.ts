import type { ContentSelection } from '../../features/capture/index.ts';
import { type ContentRecord, isSelected, textsOf } from './content-record.ts';
import type { ContentShelf, ShelfStatus } from './content-shelf.ts';

/** What a record and a part take besides their text, about. */
const recordBytes = 1_000;
const partBytes = 200;

interface Part {
  digest: string;
  packed: Buffer;
  /** The call that introduced it. */
  number: number;
  /** How often records refer to it. */
  uses: number;
}

/** Keeps the newest calls in memory, up to a number of bytes. */
export class MemoryShelf implements ContentShelf {
  readonly #parts = new Map<number, Part>();
  readonly #ids = new Map<string, number>();
  /** The oldest first. */
  readonly #records = new Map<number, ContentRecord>();
  readonly #numbers = new Map<string, number>();
  #bytes = 0;
  #bytesMax = 0;
  #lastPart = 0;

  get isEmpty(): boolean {
    return this.#records.size === 0;
  }

  status(workspaceId: string): ShelfStatus {
    const own = [...this.#records.values()].filter((record) => record.workspaceId === workspaceId);
    return { calls: own.length, bytes: this.#bytes, oldestAt: own[0]?.at ?? null };
  }

  setBytesMax(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#evict();
  }

  usePart(digest: string): number | undefined {
    const id = this.#ids.get(digest);
    const part = id === undefined ? undefined : this.#parts.get(id);
    if (part) part.uses += 1;
    return id;
  }

  addPart(digest: string, packed: Buffer, number: number): number {
    this.#lastPart += 1;
    this.#parts.set(this.#lastPart, { digest, packed, number, uses: 1 });
    this.#ids.set(digest, this.#lastPart);
    this.#bytes += packed.length + partBytes;
    return this.#lastPart;
  }

  part(id: number): { packed: Buffer; number: number } | undefined {
    return this.#parts.get(id);
  }

  save(record: ContentRecord): void {
    if (!this.#records.has(record.number)) this.#bytes += recordBytes;
    this.#records.set(record.number, record);
    this.#numbers.set(record.requestId, record.number);
    this.#evict();
  }

  find(requestId: string): ContentRecord | undefined {
    const number = this.#numbers.get(requestId);
    return number === undefined ? undefined : this.#records.get(number);
  }

  requestAt(number: number): string | undefined {
    return this.#records.get(number)?.requestId;
  }

  *newestFirst(workspaceId: string, before = Number.MAX_SAFE_INTEGER): Iterable<ContentRecord> {
    for (const record of [...this.#records.values()].reverse())
      if (record.workspaceId === workspaceId && record.number < before) yield record;
  }

  remove({ number }: ContentRecord): void {
    for (const [id, part] of this.#parts) if (part.number === number) this.#deletePart(id, part);
    this.#forget(number);
  }

  clear(selection: ContentSelection): number {
    const selected = [...this.#records.values()].filter((record) => isSelected(record, selection));
    const numbers = new Set(selected.map(({ number }) => number));
    for (const [id, part] of this.#parts) if (numbers.has(part.number)) this.#deletePart(id, part);
    for (const number of numbers) this.#forget(number);
    return selected.length;
  }

  #evict(): void {
    for (const number of this.#records.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(number);
    }
  }

  #forget(number: number): void {
    const record = this.#records.get(number);
    if (record === undefined) return;
    this.#records.delete(number);
    this.#numbers.delete(record.requestId);
    this.#bytes -= recordBytes;
    for (const { parts } of textsOf(record)) {
      for (const id of parts) {
        const part = this.#parts.get(id);
        if (part === undefined) continue;
        part.uses -= 1;
        if (part.uses <= 0) this.#deletePart(id, part);
      }
    }
  }

  #deletePart(id: number, { digest, packed }: Part): void {
    this.#parts.delete(id);
    this.#ids.delete(digest);
    this.#bytes -= packed.length + partBytes;
  }
}
