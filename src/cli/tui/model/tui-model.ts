import { Drawn } from '../drawn.ts';
import { type BindingsByMode, commandOf } from '../keys/bindings.ts';
import type { CommandName } from '../keys/command-names.ts';
import type { Connection } from '../live/follow.ts';
import type { Composition, Drawing, Page, Screen, Services } from '../screen.ts';
import { noPaint } from '../text/pages.ts';
import { runCommand } from './commands.ts';
import type { Dialog } from './dialog.ts';
import { pressInDialog } from './dialog-keys.ts';
import type { HeaderFacts } from './header-facts.ts';
import { ListView } from './list-view.ts';
import { PageStack } from './page-stack.ts';

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
  /** Of the host that is spoken to. */
  baseUrl(): string;
  /** Opens an address in the browser; false where there is none. */
  browse(address: string): boolean;
}

/** Changes are told at most so often, but for those that a key made. */
const tellEveryMs = 100;
/** However many events ask for it, the same is fetched at most so often. */
const fetchEveryMs = 250;

export type Pane = 'list' | 'screens' | 'aside';

/** All that the program knows about itself while it runs; the components only draw it. */
export class TuiModel extends Drawn {
  readonly options: ModelOptions;
  readonly views: ListView[];
  current = 0;
  pane: Pane = 'list';
  isZoomed = false;
  /** What is looked at instead of the list, the last one in front. */
  readonly pages = new PageStack();
  dialog: Dialog | undefined;
  /** Whether `g` was pressed and its letter is awaited. */
  isGoing = false;
  /** Said once, until the next key. */
  notice: string | undefined;
  connection: Connection = { state: 'connecting' };
  facts: HeaderFacts = {};
  /** How many rows the list shows: a page of it. */
  pageRows = 10;
  readonly #soon = new Map<object, ReturnType<typeof setTimeout>>();

  constructor(options: ModelOptions) {
    super(tellEveryMs);
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

  /** No more is told or fetched from now on. */
  override end(): void {
    super.end();
    for (const timer of this.#soon.values()) clearTimeout(timer);
    this.pages.clear();
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
    this.pages.clear();
    this.pane = 'list';
    if (this.view.loadedAt === undefined) void this.refresh();
  }

  showNamed(id: string): void {
    this.show(this.views.findIndex(({ screen }) => screen.id === id));
  }

  /** The view of a screen, by its id. */
  viewOf(id: string): ListView | undefined {
    return this.views.find(({ screen }) => screen.id === id);
  }

  /** Fetches the rows of a screen, the one that is shown unless told. */
  async refresh(view: ListView = this.view): Promise<void> {
    const loading = view.load(this.options.explain);
    this.changed({ soon: true });
    await loading;
    this.changed({ soon: true });
  }

  /** Fetches rows, once for all that asks for it within a moment. */
  refreshSoon(view: ListView): void {
    this.#once(view, () => this.refresh(view));
  }

  /** What keys are about: the row of the page in front, or else the selected one. */
  subject(): unknown {
    return this.pages.front?.row ?? this.view.selected();
  }

  /** How to answer what is looked at. */
  reply(): Composition<unknown> | undefined {
    return this.pages.front?.page.reply ?? this.view.screen.reply;
  }

  openPage(page: Page, row?: unknown): void {
    const opened = this.pages.push(page, row);
    const { open } = page.life ?? {};
    if (open) {
      void this.options.services.follow({
        open,
        signal: opened.closing.signal,
        onState() {},
        onEvent: () => this.renewSoon(),
      });
    }
    this.changed();
  }

  /** Fetches the page in front anew, once for all that asks for it within a moment. */
  renewSoon(): void {
    const { front } = this.pages;
    if (front?.page.life) this.#once(front, () => this.renew());
  }

  /** Fetches the page in front anew; while that fails it stays as it is. */
  async renew(): Promise<void> {
    const { front } = this.pages;
    try {
      const page = await front?.page.life?.renew();
      if (front && page) front.page = page;
    } catch (error) {
      this.notice = this.options.explain(error);
    }
    this.changed({ soon: true });
  }

  #once(what: object, work: () => Promise<void>): void {
    if (this.#soon.has(what)) return;
    const timer = setTimeout(() => {
      this.#soon.delete(what);
      void work();
    }, fetchEveryMs);
    this.#soon.set(what, timer);
  }

  /** What the page in front says, for copying. */
  pageText(): string | undefined {
    const { front } = this.pages;
    if (!front) return undefined;
    return front.page.copy ?? front.page.lines(this.drawing()).join('\n');
  }

  /** For text that is measured, compared or copied, not shown. */
  drawing(): Drawing {
    const { isPlain, services } = this.options;
    return { width: 120, paint: noPaint, isPlain, now: services.now() };
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
