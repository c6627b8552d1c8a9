import { type BindingsByMode, commandOf } from '../keys/bindings.ts';
import type { CommandName } from '../keys/command-names.ts';
import type { Connection } from '../live/follow-events.ts';
import type { Page, Screen, Services } from '../screen.ts';
import { noPaint } from '../text/pages.ts';
import { runCommand } from './commands.ts';
import type { Dialog } from './dialog.ts';
import { pressInDialog } from './dialog-keys.ts';
import type { HeaderFacts } from './header-facts.ts';
import { ListView } from './list-view.ts';

interface ModelOptions {
  screens: Screen[];
  services: Services;
  bindings: BindingsByMode;
  isPlain: boolean;
  /** A failure in a sentence, with what to do next. */
  explain(error: unknown): string;
  /** Puts text on the clipboard. */
  copy(text: string): void;
  quit(): void;
  suspend(): void;
  redraw(): void;
}

/** Changes are told at most so often, but for those that a key made. */
const tellEveryMs = 100;

export type Pane = 'list' | 'screens' | 'aside';

/** All that the program knows about itself while it runs; the components only draw it. */
export class TuiModel {
  readonly options: ModelOptions;
  readonly views: ListView[];
  current = 0;
  pane: Pane = 'list';
  isZoomed = false;
  /** What is looked at instead of the list, the last one in front. */
  readonly pages: { page: Page; top: number }[] = [];
  dialog: Dialog | undefined;
  /** Whether `g` was pressed and its letter is awaited. */
  isGoing = false;
  /** Said once, until the next key. */
  notice: string | undefined;
  connection: Connection = { state: 'connecting' };
  facts: HeaderFacts = {};
  /** How many rows the list shows: a page of it. */
  pageRows = 10;
  #version = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(options: ModelOptions) {
    this.options = options;
    this.views = options.screens.map((screen) => new ListView(screen, options.services));
  }

  get view(): ListView {
    const view = this.views[this.current] ?? this.views[0];
    if (!view) throw new RangeError('there is no screen');
    return view;
  }

  get mode(): string {
    return this.view.screen.id;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  /** Tells that something is to be drawn anew: at once, or with whatever else changes within a tenth of a second. */
  changed({ soon = false }: { soon?: boolean } = {}): void {
    if (soon) {
      this.#timer ??= setTimeout(() => this.#tell(), tellEveryMs);
      return;
    }
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }

  /** No more is told from now on. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** One key, by its name; `input` is what it would write. */
  press(key: string, input: string): void {
    this.notice = undefined;
    if (this.dialog) pressInDialog(this, this.dialog, key, input);
    else if (this.isGoing) this.#goTo(key);
    else {
      const command = commandOf(this.options.bindings, this.mode, key);
      if (command) this.run(command);
    }
    this.changed();
  }

  run(command: CommandName): void {
    runCommand(this, command);
  }

  #goTo(key: string): void {
    this.isGoing = false;
    const found = this.views.findIndex(({ screen }) => screen.letter === key);
    if (found >= 0) this.show(found);
    else if (key !== 'escape') this.notice = `There is no screen ${key}.`;
  }

  /** Shows a screen, and fetches what it has not yet. */
  show(index: number): void {
    if (index < 0 || index >= this.views.length) return;
    this.current = index;
    this.pages.length = 0;
    this.pane = 'list';
    if (this.view.loadedAt === undefined) void this.refresh();
  }

  showNamed(id: string): void {
    this.show(this.views.findIndex(({ screen }) => screen.id === id));
  }

  async refresh(): Promise<void> {
    const { view } = this;
    const loading = view.load(this.options.explain);
    this.changed({ soon: true });
    await loading;
    this.changed({ soon: true });
  }

  openPage(page: Page): void {
    this.pages.push({ page, top: 0 });
    this.changed();
  }

  /** What the page in front says, for copying. */
  pageText(): string | undefined {
    const front = this.pages.at(-1);
    if (!front) return undefined;
    const { isPlain, services } = this.options;
    const drawing = { width: 120, paint: noPaint, isPlain, now: services.now() };
    return front.page.copy ?? front.page.lines(drawing).join('\n');
  }

  tell(notice: string): void {
    this.notice = notice;
    this.changed();
  }

  /** Runs something that takes time; what goes wrong is told. */
  attempt(work: () => Promise<void>): void {
    work().catch((error) => this.tell(this.options.explain(error)));
  }
}
