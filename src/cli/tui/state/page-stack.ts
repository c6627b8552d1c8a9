import type { Page, PageTab, TurnsOfPage } from '../screens/screen.ts';

/** A text that is searched for on a page. */
export interface PageSearch {
  text: string;
  /** The line to search from once the page is rendered, and the direction; undefined when that is done. */
  seek: { from: number; by: 1 | -1 } | undefined;
  /** The line of the current match; undefined if there is none. */
  line: number | undefined;
}

/** A page on the screen, with its scroll position. */
export interface OpenPage {
  page: Page;
  /** The row that it is about, which commands act on. */
  readonly row: unknown;
  /** Whether it is what opening the row shows, so that those of other rows can take its place. */
  readonly isOfRow: boolean;
  /** The first visible line. */
  top: number;
  /** Whether it follows its end as it grows. */
  isAtEnd: boolean;
  /** Whether it stays where it is: until it is scrolled, a conversation stays at its last turn. */
  isMoved: boolean;
  isUnfolded: boolean;
  search: PageSearch | undefined;
  /** The tab that is shown, and the form of it. */
  tab: number;
  form: number;
  /** Aborted when the page closes. */
  readonly closing: AbortController;
  /** The lines that were last rendered. */
  rendered?: RenderedPage;
}

/** A page's lines, and what they depend on. */
export interface RenderedPage {
  page: Page;
  width: number;
  height: number | undefined;
  isUnfolded: boolean;
  lines: string[];
  turns: TurnsOfPage | undefined;
}

/** The tab of a page that is shown; undefined if it has none. */
export function tabOf({ page, tab }: OpenPage): PageTab | undefined {
  return page.tabs?.[Math.min(tab, page.tabs.length - 1)];
}

/** The form in which the tab is shown. */
export function formOf(opened: OpenPage): string | undefined {
  const { forms } = tabOf(opened) ?? {};
  return forms?.[opened.form % forms.length];
}

/** The pages over the list, the front one last. */
export class PageStack {
  readonly #pages: OpenPage[] = [];

  get front(): OpenPage | undefined {
    return this.#pages.at(-1);
  }

  push(page: Page, row: unknown, { isOfRow = false }: { isOfRow?: boolean } = {}): OpenPage {
    const opened: OpenPage = {
      page,
      row,
      isOfRow,
      top: 0,
      isAtEnd: page.startsAtEnd === true,
      isMoved: false,
      isUnfolded: false,
      search: undefined,
      tab: 0,
      form: 0,
      closing: new AbortController(),
    };
    this.#pages.push(opened);
    return opened;
  }

  /** Closes the front page; false if there is none. */
  pop(): boolean {
    const page = this.#pages.pop();
    page?.closing.abort();
    return page !== undefined;
  }

  clear(): void {
    while (this.pop());
  }
}
