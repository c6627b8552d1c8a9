import type { AlertFiring } from '../../../shared/contract/alerts.ts';
import type { WhisperThread } from '../../../shared/contract/whispers.ts';
import { type BindingsByScreen, type CommandName, isCommandName } from '../keys/bindings.ts';
import { Observable } from '../observable.ts';
import type { Page, Prompt, Screen } from '../screens/screen.ts';
import type { Connection } from '../services/follower.ts';
import type { Services } from '../services/services.ts';
import { noPaint, type RenderOptions } from '../text/render-options.ts';
import type { Dialog } from './dialog.ts';
import { ListView } from './list-view.ts';
import { type OpenPage, PageStack, tabOf } from './page-stack.ts';

interface TuiOptions {
  screens: Screen[];
  services: Services;
  bindings: BindingsByScreen;
  isPlain: boolean;
  /** Formats a failure as one line. */
  explain(error: unknown): string;
  /** Copies text to the clipboard; false if it is too long for that. */
  copy(text: string): boolean;
  quit(): void;
  suspend(): void;
  redraw(): void;
  baseUrl(): string;
  /** Opens an address in the browser; false if there is none. */
  browse(address: string): Promise<boolean>;
}

/** A part of the last frame that can be clicked, in cells from the upper left. */
export interface ClickTarget {
  x: number;
  y: number;
  width: number;
  height: number;
  /** With the cell that was clicked, from the upper left of the target. */
  press(at: { x: number; y: number }): void;
}

/** What the header shows about the account; unknown members are left out. */
export interface AccountFacts {
  workspace?: string;
  /** Null if the workspace does not pay in advance. */
  balanceUsd?: string | null;
  /** Alerts that fire, the newest first. */
  firing?: readonly Pick<AlertFiring, 'alert' | 'message'>[];
}

/** Background changes redraw at most this often; keys redraw immediately. */
const redrawEveryMs = 200;
/** However many events request it, the same rows or page are reloaded at most this often. */
const reloadEveryMs = 250;

export type Pane = 'list' | 'screens' | 'preview';

/** Commands that act on the list alone: behind a page, their effect could not be seen. */
export const listCommands: ReadonlySet<CommandName> = new Set([
  'conversation',
  'previous-pane',
  'pause',
  'sort',
  'sort-reverse',
]);

/** Everything on the screen. Actions change it, components render it. */
export class TuiState extends Observable {
  readonly options: TuiOptions;
  readonly views: ListView[];
  current = 0;
  pane: Pane = 'list';
  isZoomed = false;
  readonly pages = new PageStack();
  dialog: Dialog | undefined;
  /** Whether `g` was pressed, so that the next key is the letter of a screen. */
  isGoing = false;
  /** Shown until the next key. */
  notice: string | undefined;
  connection: Connection = { state: 'connecting' };
  account: AccountFacts = {};
  /** How many rows a page of the list has; set when it is rendered. */
  pageRows = 10;
  /** Where the list has its titles, from the top of its pane, and which rows are visible below; set when it is rendered. */
  listArea: { titleAt: number; top: number; count: number; width: number } | undefined;
  /** Set when the frame is drawn; where two of them overlap, the last one counts. */
  targets: ClickTarget[] = [];
  readonly #reloads = new Map<object, ReturnType<typeof setTimeout>>();

  constructor(options: TuiOptions) {
    super({ intervalMs: redrawEveryMs });
    this.options = options;
    this.views = options.screens.map((screen) => new ListView(screen, options.services));
  }

  get view(): ListView {
    const view = this.views[this.current] ?? this.views[0];
    if (!view) throw new RangeError('there is no screen');
    return view;
  }

  viewOf(screenId: string): ListView | undefined {
    return this.views.find(({ screen }) => screen.id === screenId);
  }

  /** Stops all redraws and reloads. */
  override end(): void {
    super.end();
    for (const timer of this.#reloads.values()) clearTimeout(timer);
    this.pages.clear();
  }

  /** Shows a screen, and loads it if it has not been loaded yet. */
  show(index: number): void {
    if (index < 0 || index >= this.views.length) return;
    const { front } = this.pages;
    if (front) this.notice = `Closed ${this.view.screen.title} › ${front.page.title}.`;
    this.current = index;
    this.pages.clear();
    this.pane = 'list';
    if (this.view.loadedAt === undefined) void this.reload();
  }

  /** Reloads the rows of a screen, by default the current one. */
  async reload(view: ListView = this.view): Promise<void> {
    const loading = view.load(this.options.explain);
    this.changed({ soon: true });
    await loading;
    this.changed({ soon: true });
  }

  /** As `reload`, but once for all events within a moment. */
  reloadSoon(view: ListView): void {
    this.#debounce(view, () => this.reload(view));
  }

  /** The row that commands act on: that of the front page, which may have none, or else the selected one. */
  activeRow(): unknown {
    const { front } = this.pages;
    return front ? front.row : this.view.selected();
  }

  reply(): Prompt<unknown> | undefined {
    return this.pages.front?.page.reply ?? this.view.screen.reply;
  }

  openPage(page: Page, row?: unknown, options?: { isOfRow?: boolean }): OpenPage {
    const opened = this.pages.push(page, row, options);
    const { stream } = page.updates ?? {};
    if (stream) {
      void this.options.services.follow({
        open: stream,
        signal: opened.closing.signal,
        onState() {},
        onEvent: () => this.reloadPageSoon(),
      });
    }
    this.#loadTab(opened);
    this.changed();
    return opened;
  }

  /** Shows a tab of a page, from its beginning. */
  showTab(opened: OpenPage, tab: number, form = 0): void {
    Object.assign(opened, { tab, form, top: 0, isMoved: false, isUnfolded: false, search: undefined });
    opened.rendered = undefined;
    this.#loadTab(opened);
  }

  #loadTab(opened: OpenPage): void {
    const loading = tabOf(opened)?.load?.();
    if (loading) this.refreshAfter(opened, loading);
  }

  /** Shows a page again once something is fetched for it. */
  refreshAfter(opened: OpenPage, loading: Promise<void>): void {
    this.attempt(async () => {
      await loading;
      opened.rendered = undefined;
      this.changed({ soon: true });
    });
  }

  /** Reloads the front page; if that fails, it stays as it is. */
  async reloadPage(): Promise<void> {
    const { front } = this.pages;
    try {
      const page = await front?.page.updates?.reload();
      if (front && page) front.page = page;
    } catch (error) {
      this.notice = this.options.explain(error);
    }
    this.changed({ soon: true });
  }

  /** As `reloadPage`, but once for all events within a moment. */
  reloadPageSoon(): void {
    const { front } = this.pages;
    if (front?.page.updates) this.#debounce(front, () => this.reloadPage());
  }

  #debounce(target: object, work: () => Promise<void>): void {
    if (this.#reloads.has(target)) return;
    const timer = setTimeout(() => {
      this.#reloads.delete(target);
      this.options.services.log.unlisted(() => void work());
    }, reloadEveryMs);
    this.#reloads.set(target, timer);
  }

  /** Whether a command does something on the current screen; help and footer show only these. */
  isAvailable(command: CommandName): boolean {
    const { screen } = this.view;
    const { front } = this.pages;
    if (front && listCommands.has(command)) return false;
    if (command === 'next-pane') return !front || tabOf(front)?.forms !== undefined;
    if (command === 'next-row' || command === 'previous-row') return front?.isOfRow === true;
    if (command === 'compare') return screen.compare !== undefined;
    if (command === 'copy-curl') return front?.page.curl !== undefined;
    if (command === 'open' && front) return front.rendered?.turns?.hasFolds === true;
    if (command === 'next-match' || command === 'previous-match') return front?.search !== undefined;
    if (command === 'compose') return screen.compose !== undefined;
    if (command === 'edit') return screen.edit !== undefined;
    if (command === 'reply') return this.reply() !== undefined;
    if (command === 'remove') return screen.remove !== undefined;
    if (command === 'conversation') return screen.conversation !== undefined;
    if (command === 'copy-command') return screen.commandText !== undefined;
    return isCommandName(command);
  }

  /** The number of unread whispers; undefined if it is not known. */
  unreadCount(): number | undefined {
    const view = this.viewOf('whispers');
    if (view?.loadedAt === undefined || view.failure !== undefined) return undefined;
    return (view.loadedRows() as WhisperThread[]).reduce((sum, { unread }) => sum + unread, 0);
  }

  /** For text that is measured, compared or copied, not shown. */
  textOptions(): RenderOptions {
    const { isPlain, services } = this.options;
    return { width: 120, paint: noPaint, isPlain, now: services.now() };
  }

  notify(notice: string): void {
    this.notice = notice;
    this.changed();
  }

  /** Runs asynchronous work, and shows its failure as a notice. */
  attempt(work: () => Promise<void>): void {
    work().catch((error) => this.notify(this.options.explain(error)));
  }
}
