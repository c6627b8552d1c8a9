import type { Page } from '../screen.ts';

/** A page as it is looked at. */
export interface OpenPage {
  page: Page;
  /** The row that it was opened from: what keys do is done to it. */
  readonly row: unknown;
  /** The first line that is seen. */
  top: number;
  /** Whether its end is followed as it grows. */
  isAtEnd: boolean;
  /** Ends whatever keeps it current. */
  readonly closing: AbortController;
  /** Its lines, as they were broken last. */
  broken?: { page: Page; width: number; lines: string[] };
}

/** What is looked at instead of the list, the last one in front. */
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
      isAtEnd: page.beginsAtEnd === true,
      closing: new AbortController(),
    };
    this.#pages.push(opened);
    return opened;
  }

  /** Closes the one in front; false when there is none. */
  pop(): boolean {
    const page = this.#pages.pop();
    page?.closing.abort();
    return page !== undefined;
  }

  clear(): void {
    while (this.pop());
  }
}
