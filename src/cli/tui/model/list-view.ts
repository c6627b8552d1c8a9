import type { SseEvent } from '../../../shared/sse.ts';
import type { Connection } from '../live/follow.ts';
import type { Screen, Services } from '../screen.ts';
import { noPaint } from '../text/pages.ts';

/** A screen as it is looked at: its rows, which one is selected, what is filtered, marked and held. */
export class ListView {
  readonly screen: Screen;
  tab = 0;
  /** `!` in front inverts it. */
  filter = '';
  readonly marks = new Set<string>();
  /** Why the rows could not be fetched, for people. */
  failure: string | undefined;
  isLoading = false;
  /** When rows were fetched last, in milliseconds since 1970. */
  loadedAt: number | undefined;
  /** How the screen's own stream is; undefined until it is followed. */
  line: Connection | undefined;
  readonly #services: Services;
  #loaded: unknown[] = [];
  /** What is shown while the list is held still, and the ids in it. */
  #frozen: { rows: unknown[]; ids: Set<string> } | undefined;
  /** Events that came while rows were being fetched. */
  #late: SseEvent[] = [];
  #selected: string | undefined;
  #index = 0;
  #top = 0;
  #cache: { from: unknown[]; filter: string; rows: unknown[] } | undefined;

  constructor(screen: Screen, services: Services) {
    this.screen = screen;
    this.#services = services;
  }

  /** All rows, filtered or not. */
  allRows(): unknown[] {
    return this.#frozen?.rows ?? this.#current();
  }

  /** What was fetched, whether it is shown or not. */
  fetchedRows(): unknown[] {
    return this.#loaded;
  }

  #current(): unknown[] {
    return this.screen.live?.(this.#services) ?? this.#loaded;
  }

  /** The rows that pass the filter. */
  rows(): unknown[] {
    const from = this.allRows();
    if (this.filter === '' || this.filter === '!') return from;
    if (this.#cache?.from !== from || this.#cache.filter !== this.filter) {
      this.#cache = { from, filter: this.filter, rows: from.filter((row) => this.#passes(row)) };
    }
    return this.#cache.rows;
  }

  /** Where the selected row is. At the top, whatever comes first is selected, so that a live list is followed. */
  index(): number {
    const rows = this.rows();
    if (this.#selected !== undefined) {
      const found = rows.findIndex((row) => this.screen.idOf(row) === this.#selected);
      if (found >= 0) this.#index = found;
    }
    return Math.max(0, Math.min(this.#index, rows.length - 1));
  }

  selected(): unknown {
    return this.rows()[this.index()];
  }

  /** The first row that is seen of `count`: the selected one is among them, and the list moves no more than it must. */
  top(count: number): number {
    const index = this.index();
    const last = Math.max(0, this.rows().length - count);
    this.#top = Math.min(last, Math.max(index - count + 1, Math.min(this.#top, index)));
    return this.#top;
  }

  /** Selects the row so many places further. */
  move(by: number): void {
    this.select(this.index() + by);
  }

  select(index: number): void {
    const rows = this.rows();
    this.#index = Math.max(0, Math.min(index, rows.length - 1));
    const row = rows[this.#index];
    this.#selected = this.#index === 0 || row === undefined ? undefined : this.screen.idOf(row);
  }

  setFilter(filter: string): void {
    this.filter = filter;
    this.#cache = undefined;
  }

  toggleMark(): void {
    const row = this.selected();
    if (row === undefined) return;
    const id = this.screen.idOf(row);
    if (!this.marks.delete(id)) this.marks.add(id);
  }

  /** The marked rows, or else the selected one. */
  chosen(): unknown[] {
    const marked = this.rows().filter((row) => this.marks.has(this.screen.idOf(row)));
    const selected = this.selected();
    if (marked.length > 0) return marked;
    return selected === undefined ? [] : [selected];
  }

  get isPaused(): boolean {
    return this.#frozen !== undefined;
  }

  /** Holds the list still, or lets it go on. */
  togglePause(): void {
    if (this.#frozen) this.#frozen = undefined;
    else {
      const rows = [...this.allRows()];
      this.#frozen = { rows, ids: new Set(rows.map((row) => this.screen.idOf(row))) };
    }
  }

  /** How many rows came since the list was held still. */
  heldCount(): number {
    const ids = this.#frozen?.ids;
    if (!ids) return 0;
    return this.#current().reduce<number>((sum, row) => sum + (ids.has(this.screen.idOf(row)) ? 0 : 1), 0);
  }

  /** Takes one event of the screen's stream; false where the rows must be fetched to know what it changed. */
  takeEvent(event: SseEvent): boolean {
    // What is being fetched may be older than the event.
    if (this.isLoading) this.#late.push(event);
    const rows = this.screen.stream?.see(this.#loaded, event);
    if (rows) this.#loaded = rows;
    return rows !== undefined;
  }

  setTab(tab: number): void {
    this.tab = tab;
    this.#loaded = [];
    this.#frozen = undefined;
    this.loadedAt = undefined;
    this.#selected = undefined;
    this.#index = 0;
    this.marks.clear();
  }

  /** Fetches the rows; what goes wrong is told by `explain` and kept in `failure`. */
  async load(explain: (error: unknown) => string): Promise<void> {
    if (!this.screen.load || this.isLoading) return;
    this.isLoading = true;
    this.#late = [];
    const { tab } = this;
    try {
      const rows = await this.screen.load(this.#services, tab);
      if (tab === this.tab) {
        this.#loaded = this.#late.reduce((seen, event) => this.screen.stream?.see(seen, event) ?? seen, rows);
        this.failure = undefined;
      }
    } catch (error) {
      if (tab === this.tab) this.failure = explain(error);
    } finally {
      this.isLoading = false;
    }
    // Another tab was chosen meanwhile, and nobody fetched for it.
    if (tab !== this.tab) return this.load(explain);
    this.loadedAt = this.#services.now();
  }

  /** What a person sees of a row is what the filter looks at. */
  #passes(row: unknown): boolean {
    const isInverted = this.filter.startsWith('!');
    const wanted = (isInverted ? this.filter.slice(1) : this.filter).toLowerCase();
    const drawing = { width: 40, paint: noPaint, isPlain: true, now: this.#services.now() };
    const seen = this.screen.columns(this.tab).map((column) => column.text(row, drawing));
    const text = [this.screen.idOf(row), ...seen].join(' ').toLowerCase();
    return text.includes(wanted) !== isInverted;
  }
}
