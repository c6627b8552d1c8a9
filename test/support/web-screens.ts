import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import {
  type AxeOptions,
  accessibilityFaults,
  colourRules,
  noIncidents,
  openPage,
  type PageOptions,
} from './browser.ts';
import { layoutFaults } from './layout-faults.ts';
import type { RunningDaemon } from './start-daemon.ts';

/** A theme and a width; two looks that differ in both cover all themes and widths. */
type Look = readonly [colorScheme: 'light' | 'dark', width: number];

/** Where it is wide and light; where it is narrow and dark. */
export const looks = [
  ['light', 1280],
  ['dark', 360],
] as const satisfies Look[];

/** The other half of all combinations. */
export const otherLooks = [
  ['dark', 1280],
  ['light', 360],
] as const satisfies Look[];

/** Of each list, where it is checked as a whole in another look. */
export const rowsMax = 10;

/** How a screen is looked at, and what axe checks then. */
export type View = readonly [Look, AxeOptions];

export const inBothThemesAndWidths: readonly View[] = [
  [looks[0], {}],
  [looks[1], { rowsMax }],
];

/** What is seen only where it is wide has dark colours, too. */
export const inAllLooks: readonly View[] = [
  ...inBothThemesAndWidths,
  [otherLooks[0], { rules: colourRules, rowsMax }],
];

type Until = (page: Page) => Promise<void>;

interface ScreenOptions {
  /** What follows `#`: `/overview?range=7d`. */
  address: string;
  /** Where it is wide and light by default. */
  views?: readonly View[];
  /** Before the page is loaded, such as to answer its calls otherwise. */
  prepare?: (page: Page) => Promise<void>;
  /** Return when what is to be seen is there; each leads from the one before to what is checked next. */
  until: Until | readonly Until[];
}

/** Opens a screen as the owner, and checks that it has no faults and fits the window. */
export async function checkScreen(
  daemon: Pick<RunningDaemon, 'url' | 'login'>,
  { address, views = [[looks[0], {}]], prepare, until }: ScreenOptions,
): Promise<void> {
  const { page, incidents } = await openScreen(daemon);
  await prepare?.(page);
  await page.goto(`${daemon.url}/#${address}`);
  const faults: string[] = [];
  // Loading it takes longer than all else, and a window and its theme change while it is open as well.
  for (const returns of [until].flat()) {
    await returns(page);
    for (const view of views) faults.push(...(await faultsIn(page, view)));
    // Where the next step is wide, as the first one was.
    await page.setViewportSize({ width: looks[0][1], height: 900 });
  }
  expect(faults).toEqual([]);
  expect(incidents).toEqual(noIncidents);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
}

/** What axe finds, and what does not fit the window. */
async function faultsOf(page: Page, options: AxeOptions): Promise<string[]> {
  return [...(await accessibilityFaults(page, options)), ...(await layoutFaults(page, options))];
}

/** What does not fit the window at some widths. */
export async function faultsAtWidths(page: Page, widths: readonly number[]): Promise<string[]> {
  const faults: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await nextFrame(page);
    faults.push(...(await layoutFaults(page)).map((fault) => `${width} px: ${fault}`));
  }
  return faults;
}

/** All screens, as the navigation lists them. */
export async function listScreens(page: Page): Promise<{ name: string; title: string }[]> {
  const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
  await links.first().waitFor();
  const found = await links.all();
  return await Promise.all(
    found.map(async (link) => ({
      name: (await link.getAttribute('href'))?.replace('#/', '') ?? '',
      title: (await link.textContent())?.trim() ?? '',
    })),
  );
}

/** Changes the theme and the width of a page that is open, and returns its faults. */
export async function faultsIn(page: Page, [[colorScheme, width], options]: View): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  await nextFrame(page);
  return (await faultsOf(page, options)).map((fault) => `${colorScheme}, ${width} px: ${fault}`);
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
