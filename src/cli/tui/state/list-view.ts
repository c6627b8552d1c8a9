import type { SseEvent } from '../../../shared/http/sse.ts';
import type { Screen } from '../screens/screen.ts';
import type { Connection } from '../services/follower.ts';
import type { Services } from '../services/services.ts';
import { isNumeric, type Sort, shownTitles, sortedRows } from '../text/list-table.ts';
import { noPaint, type RenderOptions } from '../text/render-options.ts';

/** Rows that match a query, as far as they were fetched. */
export interface Found {
  query: string;
  rows: unknown[];
  /** Where the next page starts; null if there is none. */
  next: string | null;
}

/** The state of one screen: its rows, selection, filter, marks and pause. */
export class ListView {
  readonly screen: Screen;
  tab: number;
  /** A leading `!` inverts it. */
  filter = '';
  /** Undefined in the order in which they were loaded. */
  sort: Sort | undefined;
  /** What the daemon found for a query, in place of the rows. */
  found: Found | undefined;
  readonly marks = new Set<string>();
  /** Why the rows could not be loaded, for the user. */
  failure: string | undefined;
  isLoading = false;
  /** Milliseconds since 1970. */
  loadedAt: number | undefined;
  /** The state of the screen's own stream; undefined until it is followed. */
  connection: Connection | undefined;
  readonly #services: Services;
  #loaded: unknown[] = [];
  /** How many queries were asked or left. */
  #finds = 0;
  /** The rows at the time of the pause. */
  #paused: { rows: unknown[]; ids: Set<string> } | undefined;
  /** Paused rows with the current content. */
  #pausedCache: { from: unknown[]; rows: unknown[] } | undefined;
  /** Events that arrived while rows were being loaded. */
  #pending: SseEvent[] = [];
  #selected: string | undefined;
  #index = 0;
  #top = 0;
  #sortCache: { from: unknown[]; sort: Sort; rows: unknown[] } | undefined;
  #filterCache: { from: unknown[]; filter: string; rows: unknown[] } | undefined;

  constructor(screen: Screen, services: Services) {
    this.screen = screen;
    this.tab = screen.firstTab ?? 0;
    this.#services = services;
  }

  /** All rows, before filtering. A paused list keeps its rows and their order, but each row still changes and ends. */
  allRows(): unknown[] {
    const from = this.#current();
    if (!this.#paused) return from;
    if (this.#pausedCache?.from !== from) {
      const byId = new Map(from.map((row) => [this.screen.idOf(row), row]));
      const rows = this.#paused.rows.map((row) => byId.get(this.screen.idOf(row)) ?? row);
      this.#pausedCache = { from, rows };
    }
    return this.#pausedCache.rows;
  }

  /** The rows that were loaded, whether they are shown or not. */
  loadedRows(): unknown[] {
    return this.#loaded;
  }

  #current(): unknown[] {
    return this.found?.rows ?? this.screen.live?.(this.#services) ?? this.#loaded;
  }

  /** The rows that match the filter, in the order of the sorting. */
  rows(): unknown[] {
    const rows = this.#filtered();
    const { sort } = this;
    const column = sort && this.screen.columns(this.tab).find(({ title }) => title === sort.column);
    if (!column) return rows;
    if (this.#sortCache?.from !== rows || this.#sortCache.sort !== sort)
      this.#sortCache = { from: rows, sort, rows: sortedRows(rows, column, sort, this.#textOptions()) };
    return this.#sortCache.rows;
  }

  /** Sorts by the next column that is shown in this width, after the last one by none. Of numbers, the largest come first. */
  sortNext(width: number): void {
    const titles = shownTitles(this.screen.columns(this.tab), width);
    const at = this.sort ? titles.indexOf(this.sort.column) : -1;
    this.sortBy(titles[at + 1]);
  }

  /** Sorts by a column; again, in the other direction. */
  sortBy(title: string | undefined): void {
    const column = this.screen.columns(this.tab).find((one) => one.title === title);
    if (!column) this.sort = undefined;
    else if (this.sort?.column === column.title) this.reverseSort();
    else this.sort = { column: column.title, isDescending: isNumeric(column, this.allRows()) };
    this.select(0);
  }

  reverseSort(): void {
    if (this.sort) this.sort = { ...this.sort, isDescending: !this.sort.isDescending };
  }

  /** Asks the daemon for the rows of a query, or for the next page of them. */
  async find(query: string, { isNext = false }: { isNext?: boolean } = {}): Promise<void> {
    const before = isNext ? this.found : undefined;
    if (!before) this.#finds += 1;
    const find = this.#finds;
    const options = { after: before?.next ?? undefined, sort: this.sort };
    const { rows = [], next = null } = (await this.screen.find?.run(query, this.#services, options)) ?? {};
    // Another query may have been asked meanwhile, or this one be left.
    if (find !== this.#finds || (before && this.found !== before)) return;
    this.found = { query, rows: [...(before?.rows ?? []), ...rows], next };
    this.#paused = undefined;
    if (!before) this.select(0);
  }

  /** Shows the loaded rows again, also if the rows of a query are yet to come. */
  leaveFound(): void {
    this.#finds += 1;
    this.found = undefined;
  }

  #filtered(): unknown[] {
    const from = this.allRows();
    if (this.filter === '' || this.filter === '!') return from;
    if (this.#filterCache?.from !== from || this.#filterCache.filter !== this.filter) {
      this.#filterCache = { from, filter: this.filter, rows: from.filter((row) => this.#matches(row)) };
    }
    return this.#filterCache.rows;
  }

  /** The index of the selected row. At the top the selection stays at the top, so that a live list is followed. */
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

  /** The first of `count` visible rows: the selection is visible, and the list scrolls as little as possible. */
  top(count: number): number {
    const index = this.index();
    const last = Math.max(0, this.rows().length - count);
    this.#top = Math.min(last, Math.max(index - count + 1, Math.min(this.#top, index)));
    return this.#top;
  }

  /** Moves the selection. */
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
    this.#filterCache = undefined;
  }

  toggleMark(): void {
    const row = this.selected();
    if (row === undefined) return;
    const id = this.screen.idOf(row);
    if (!this.marks.delete(id)) this.marks.add(id);
  }

  /** The marked rows, or else the selected one. */
  targets(): unknown[] {
    const marked = this.rows().filter((row) => this.marks.has(this.screen.idOf(row)));
    const selected = this.selected();
    if (marked.length > 0) return marked;
    return selected === undefined ? [] : [selected];
  }

  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  togglePause(): void {
    this.#pausedCache = undefined;
    if (this.#paused) this.#paused = undefined;
    else {
      const rows = [...this.#current()];
      this.#paused = { rows, ids: new Set(rows.map((row) => this.screen.idOf(row))) };
    }
  }

  /** How many rows have arrived since the list was paused. */
  newCount(): number {
    const ids = this.#paused?.ids;
    if (!ids) return 0;
    return this.#current().reduce<number>((sum, row) => sum + (ids.has(this.screen.idOf(row)) ? 0 : 1), 0);
  }

  /** Applies an event of the screen's stream; false if the rows have to be reloaded. */
  applyEvent(event: SseEvent): boolean {
    // The rows that are being loaded may be older than the event.
    if (this.isLoading) this.#pending.push(event);
    const rows = this.screen.stream?.apply(this.#loaded, event);
    if (rows) this.#loaded = rows;
    return rows !== undefined;
  }

  setTab(tab: number): void {
    this.tab = tab;
    this.#loaded = [];
    this.#paused = undefined;
    this.loadedAt = undefined;
    this.#selected = undefined;
    this.#index = 0;
    this.sort = undefined;
    this.marks.clear();
  }

  /** Loads the rows; a failure is formatted by `explain` and kept in `failure`. */
  async load(explain: (error: unknown) => string): Promise<void> {
    if (this.found) return this.#findAgain(explain);
    if (!this.screen.load || this.isLoading) return;
    this.isLoading = true;
    this.#pending = [];
    const { tab } = this;
    try {
      const rows = await this.screen.load(this.#services, tab);
      if (tab === this.tab) {
        const { stream } = this.screen;
        this.#loaded = this.#pending.reduce((seen, event) => stream?.apply(seen, event) ?? seen, rows);
        this.failure = undefined;
      }
    } catch (error) {
      if (tab === this.tab) this.failure = explain(error);
    } finally {
      this.isLoading = false;
    }
    // The tab changed meanwhile, and its own load was skipped.
    if (tab !== this.tab) return this.load(explain);
    this.loadedAt = this.#services.now();
  }

  async #findAgain(explain: (error: unknown) => string): Promise<void> {
    const { query = '' } = this.found ?? {};
    try {
      await this.find(query);
      this.failure = undefined;
    } catch (error) {
      this.failure = explain(error);
    }
  }

  #textOptions(): RenderOptions {
    return { width: 40, paint: noPaint, isPlain: true, now: this.#services.now() };
  }

  /** The filter searches the text that is on the screen. */
  #matches(row: unknown): boolean {
    const isInverted = this.filter.startsWith('!');
    const wanted = (isInverted ? this.filter.slice(1) : this.filter).toLowerCase();
    const options = this.#textOptions();
    const cells = this.screen.columns(this.tab).map((column) => column.text(row, options));
    const text = [this.screen.idOf(row), ...cells].join(' ').toLowerCase();
    return text.includes(wanted) !== isInverted;
  }
}
