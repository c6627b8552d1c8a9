import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults, colourRules, noIncidents, openPage, type PageOptions } from './browser.ts';
import type { RunningDaemon } from './start-daemon.ts';

/** In which each screen is looked at. */
export const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
  ['dark', 360],
] as const;

export type Look = (typeof looks)[number];

interface ScreenOptions {
  /** What follows `#`: `/overview?range=7d`. */
  address: string;
  /** Only in the first by default. */
  inAllLooks?: boolean;
  /** Before the page is loaded, such as to answer its calls otherwise. */
  prepare?: (page: Page) => Promise<void>;
  /** Returns when what is to be seen is there. */
  until: (page: Page) => Promise<void>;
}

/** Opens a screen as the owner, and checks that it has no faults and fits the window. */
export async function checkScreen(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  { address, inAllLooks = false, prepare, until }: ScreenOptions,
): Promise<void> {
  const { page, incidents } = await openScreen(daemon);
  await prepare?.(page);
  await page.goto(`${daemon.url}/#${address}`);
  await until(page);
  const faults = await faultsOf(page);
  // Loading it takes longer than all else, and a window and its theme change while it is open as well.
  for (const [colorScheme, width] of inAllLooks ? looks.slice(1) : []) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await nextFrame(page);
    const found = await faultsOf(page, colorScheme === 'dark' ? colourRules : undefined);
    faults.push(...found.map((fault) => `${colorScheme}, ${width} px: ${fault}`));
  }
  expect(faults).toEqual([]);
  expect(incidents).toEqual(noIncidents);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
}

/** What axe finds, and whether the page is wider than the window. */
export async function faultsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  const faults = await accessibilityFaults(page, rules);
  const [needed = 0, given = 0] = (await page.evaluate(
    '[document.documentElement.scrollWidth, innerWidth]',
  )) as number[];
  return needed > given ? [...faults, `is ${needed} px wide`] : faults;
}

/** Returns when the page is drawn as it is now. */
async function nextFrame(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => {})',
  );
}

/** A page whose tab is signed in as the owner. */
export async function openScreen(
  { url, login }: Pick<RunningDaemon, 'url' | 'login'>,
  { width = 1280, ...options }: Omit<PageOptions, 'viewport'> & { width?: number } = {},
) {
  const opened = await openPage(url, { ...options, viewport: { width, height: 900 } });
  const known = JSON.stringify(JSON.stringify({ secret: login, isOwn: false }));
  await opened.page.addInitScript({ content: `sessionStorage.setItem('gateway.login', ${known})` });
  return opened;
}

/** Presses `g` and a letter, without waiting in between: the page takes them for two keys if they are too far apart. */
export async function pressAfterG(page: Page, letter: string): Promise<void> {
  await Promise.all([page.keyboard.press('g'), page.keyboard.press(letter)]);
}

/** Lets the calls of an endpoint fail as if the daemon did. */
export async function failCalls(page: Page, path: string): Promise<void> {
  await page.route(`**${path}*`, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/json',
      body: JSON.stringify({
        error: { type: 'server_error', code: 'unavailable', message: 'Out of order.' },
      }),
    }),
  );
}

/** Lets the calls of an endpoint wait for ever. */
export async function holdCalls(page: Page, path: string): Promise<void> {
  await page.route(`**${path}*`, () => {});
}
