import type { Page } from '../screens/screen.ts';

/** A page on the screen, with its scroll position. */
export interface OpenPage {
  page: Page;
  /** The row that it was opened from, which commands act on. */
  readonly row: unknown;
  /** The first visible line. */
  top: number;
  /** Whether it follows its end as it grows. */
  isAtEnd: boolean;
  /** Aborted when the page closes. */
  readonly closing: AbortController;
  /** The lines that were last rendered. */
  rendered?: { page: Page; width: number; height: number | undefined; lines: string[] };
}

/** The pages over the list, the front one last. */
export class PageStack {
  readonly #pages: OpenPage[] = [];

  get front(): OpenPage | undefined {
    return this.#pages.at(-1);
  }

  push(page: Page, row: unknown): OpenPage {
    const opened: OpenPage = {
      page,
      row,
      top: 0,
      isAtEnd: page.startsAtEnd === true,
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
