import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { colourRules, noIncidents } from '../../support/browser.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import {
  failCalls,
  faultsIn,
  holdCalls,
  looks,
  openScreen,
  otherLooks,
  pressAfterG,
  rowsMax,
  type View,
} from '../../support/web-screens.ts';

/** What all screens have in common, in each state. A new one is tested as soon as it is in the list. */

/** As names have them: a line without controls and commas. */
const names = hostileTexts
  .filter((text) => text.length <= 100)
  .map((text) => text.replaceAll(/[\p{Cc},]/gu, '').slice(0, 60));

describe.skipIf(chromium === undefined)('all screens (skipped without Chromium)', () => {
  let full: RunningDaemon;
  let empty: RunningDaemon;
  let listed: ReturnType<typeof listedScreens> | undefined;
  /** As the navigation lists them. */
  const screens = () => {
    listed ??= listedScreens(empty);
    return listed;
  };

  beforeAll(async () => {
    [full, empty] = await Promise.all([startDaemon(), startDaemon()]);
    for (const name of names) await useAsName(full, name);
  });

  afterAll(async () => {
    await Promise.all([full?.stop(), empty?.stop()]);
  });

  interface Visit {
    views: readonly View[];
    prepare?: (page: Page) => Promise<void>;
    /** Returns when a screen shows what is to be checked. */
    until?: (page: Page, name: string) => Promise<void>;
  }

  /** Opens each screen after the other in one tab, and checks what holds for all of them. */
  const visitAll = async (daemon: RunningDaemon, { views, prepare, until }: Visit) => {
    const { page, incidents } = await openScreen(daemon);
    await prepare?.(page);
    const faults: string[] = [];
    const all = await screens();
    for (const { name, title } of all) {
      await page.goto(`${daemon.url}/#/${name}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await until?.(page, name);
      for (const view of views)
        faults.push(...(await faultsIn(page, view)).map((fault) => `${name}: ${fault}`));
    }
    expect(all.length).toBeGreaterThan(4);
    expect(faults).toEqual([]);
    expect(incidents).toEqual(noIncidents);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  };

  // Their own tests check screens with calls in the other looks.
  test('with hostile names of everything', async () => {
    const [dark, narrow] = otherLooks;
    // Each is in two calls.
    const rowsMax = 2 * names.length;
    await visitAll(full, {
      views: [
        [dark, { rules: colourRules, rowsMax }],
        [narrow, { rowsMax }],
      ],
      until: settled,
    });
  });

  test('without any call; with one main part and one heading of the first level', async () => {
    await visitAll(empty, {
      views: [
        [looks[0], { rowsMax }],
        [looks[1], { rules: colourRules, rowsMax }],
      ],
      async until(page, name) {
        await settled(page);
        // Where it is narrow, the navigation is behind a button.
        await page.setViewportSize({ width: 1280, height: 900 });
        const tree = await page.locator('body').ariaSnapshot();
        const lines = tree.split('\n').map((line) => line.trim());
        const mains = lines.filter((line) => line.startsWith('- main'));
        expect(mains, name).toHaveLength(1);
        const titles = lines.filter((line) => /^- heading\b.*\[level=1\]/.test(line));
        expect(titles, name).toHaveLength(1);
        const navigation = lines.findIndex((line) => line.startsWith('- navigation "Screens"'));
        expect(navigation, name).toBeLessThan(lines.findIndex((line) => line.startsWith('- main')));
        expect(navigation, name).toBeGreaterThan(-1);
      },
    });
  });

  test('while they load', async () => {
    await visitAll(full, {
      views: [[otherLooks[1], { rowsMax }]],
      prepare: (page) => holdCalls(page, '/v1/'),
    });
  });

  test('when the daemon fails', async () => {
    await visitAll(full, {
      views: [[otherLooks[0], { rowsMax }]],
      prepare: (page) => failCalls(page, '/v1/'),
    });
  });

  test('names are shown as they are', async () => {
    const { page, incidents } = await openScreen(full);
    await page.goto(`${full.url}/#/calls`);
    for (const name of names) {
      const query = `user:"${name.replaceAll(/["\\]/g, '\\$&')}"`;
      await page.goto(`${full.url}/#/calls?q=${encodeURIComponent(query)}`);
      await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('2');
    }
    expect(incidents).toEqual(noIncidents);
  });

  test('questions are answered by the keyboard alone', async () => {
    await (await full.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'First.' } })).text();
    const last = await full.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Second.' } });
    await last.text();
    const id = last.headers.get('x-request-id') ?? '';
    const { page } = await openScreen(full);
    const keys = async (...names: string[]) => {
      for (const name of names) await page.keyboard.press(name);
    };
    const tab = (name: string) => page.getByRole('tab', { selected: true, name }).waitFor();
    const screen = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    await page.goto(`${full.url}/#/overview`);
    await screen('Overview');
    await pressAfterG(page, 'c');
    await screen('Calls');
    await page.getByRole('table').waitFor();
    // What was asked and answered, why was it slow, what did the provider get, why was it dear?
    await keys('j', 'Enter');
    await page.getByText(id, { exact: true }).waitFor();
    await page.getByRole('article', { name: 'user' }).getByText('Second.').waitFor();
    await keys(']');
    await page.getByRole('region', { name: 'Waterfall' }).waitFor();
    await keys(']');
    await tab('Request');
    await page.getByRole('article', { name: 'user' }).getByText('Second.').waitFor();
    await keys(']');
    await tab('Answer');
    await keys(']');
    await tab('Attempts');
    await page.getByText('simulator').first().waitFor();
    await keys(']');
    await tab('Cost');
    await page.getByRole('rowheader', { name: 'Total' }).waitFor();
    // What changed since the last call?
    await keys(']');
    await tab('Diff');
    await page.getByRole('region', { name: 'Request' }).getByText('removed: First.').waitFor();
    // Would another model be better?
    await keys('r');
    await screen('Playground');
    await page.getByRole('link', { name: id }).waitFor();
    // Why was one refused?
    await pressAfterG(page, 'c');
    await page.getByRole('table').waitFor();
    await keys('/');
    await page.keyboard.type('status:rejected');
    await keys('Enter');
    await expect.poll(() => page.getByText('completed', { exact: true }).count()).toBeLessThan(2);
    await page.getByText('model_not_found').first().waitFor();
    await page.keyboard.press('Escape');
    // Which key spends, will a budget run out, what runs now?
    for (const { key, title } of await screens()) {
      await pressAfterG(page, key);
      await screen(title);
    }
  });
});

async function listedScreens(daemon: RunningDaemon) {
  const { page } = await openScreen(daemon);
  await page.goto(`${daemon.url}/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const links = await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').all();
  const listed = await Promise.all(
    links.map(async (link) => ({
      name: (await link.getAttribute('href'))?.replace('#/', '') ?? '',
      title: await link.innerText(),
      key: (await link.getAttribute('title'))?.replace('g ', '') ?? '',
    })),
  );
  await page.close();
  return listed;
}

/** What is loading of a screen. */
const loading = (page: Page) => page.locator('[aria-busy=true], .loading, .skeleton');

/** Waits until nothing of the screen is loading. */
async function settled(page: Page): Promise<void> {
  await loading(page).first().waitFor({ state: 'detached' });
}

/** A call, a key and a rejected call that have a text wherever a name can be. */
async function useAsName(daemon: RunningDaemon, name: string): Promise<void> {
  const service = { user: name, conversation: name, tags: { name } };
  const known = await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: name, service } });
  expect(known.status, await known.text()).toBe(200);
  await (await daemon.fetch('/v1/responses', { json: { model: name, input: name } })).text();
  const key = await daemon.fetch('/v1/workspaces/me/keys', {
    json: { name, scopes: ['responses'] },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  expect(key.status, await key.text()).toBe(200);
}
