import { signal } from '@preact/signals';

/** A page of a list as every list of the API has it. */
export interface Page<Row> {
  data: Row[];
  next: string | null;
  /** Of a search: how many were looked at. */
  scanned?: number;
}

/** The most rows that a list keeps. */
const rowsMax = 10_000;

/** The rows of a list, a page at a time, newest first. */
export class PagedList<Row> {
  readonly rows = signal<readonly Row[]>([]);
  readonly error = signal<unknown>(undefined);
  readonly isLoading = signal(false);
  /** Whether further rows can be loaded. */
  readonly hasMore = signal(true);
  /** How many a search has looked at so far; 0 of another list. */
  readonly scanned = signal(0);
  readonly #read: (after: string | undefined, abort: AbortSignal) => Promise<Page<Row>>;
  #next: string | undefined;
  #running: AbortController | undefined;

  constructor(read: (after: string | undefined, abort: AbortSignal) => Promise<Page<Row>>) {
    this.#read = read;
  }

  /** Loads the first page again; the rows stay until it is there. */
  reload(): void {
    this.stop();
    this.hasMore.value = true;
    void this.#load(undefined);
  }

  /** Loads the next page, unless one is on its way or there is none. */
  more(): void {
    if (this.isLoading.value || !this.hasMore.value || this.error.value !== undefined) return;
    void this.#load(this.#next);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.isLoading.value = false;
  }

  async #load(after: string | undefined): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.isLoading.value = true;
    try {
      if (after === undefined) this.scanned.value = 0;
      let page = await this.#read(after, running.signal);
      // A search that found nothing in its time goes on where it stopped.
      while (page.data.length === 0 && page.next !== null && !running.signal.aborted) {
        this.scanned.value += page.scanned ?? 0;
        page = await this.#read(page.next, running.signal);
      }
      if (running.signal.aborted) return;
      const { data, next } = page;
      this.scanned.value += page.scanned ?? 0;
      this.rows.value = after === undefined ? data : [...this.rows.value, ...data];
      this.#next = next ?? undefined;
      this.hasMore.value = next !== null && this.rows.value.length < rowsMax;
      this.error.value = undefined;
    } catch (error) {
      if (running.signal.aborted) return;
      this.error.value = error;
    }
    this.isLoading.value = false;
  }
}
