import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { colourRules, noIncidents } from '../../support/browser.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import {
  failCalls,
  faultsOf,
  holdCalls,
  type Look,
  looks,
  openScreen,
  pressAfterG,
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

  /** Opens each screen after the other in one tab, and checks what holds for all of them. */
  const visitAll = async (
    daemon: RunningDaemon,
    {
      look = looks[0],
      rules,
      prepare,
    }: { look?: Look; rules?: readonly string[]; prepare?: (page: Page) => Promise<void> } = {},
  ) => {
    const [colorScheme, width] = look;
    const { page, incidents } = await openScreen(daemon, { colorScheme, width });
    await prepare?.(page);
    const faults: string[] = [];
    const all = await screens();
    for (const { name, title } of all) {
      await page.goto(`${daemon.url}/#/${name}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      if (!prepare) await settled(page);
      faults.push(...(await faultsOf(page, rules)).map((fault) => `${name}: ${fault}`));
    }
    expect(all.length).toBeGreaterThan(4);
    expect(faults).toEqual([]);
    expect(incidents).toEqual(noIncidents);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  };

  test.each(looks)('with hostile names of everything: %s, %i px', async (...look) => {
    // All rules are checked at this width, in the other theme.
    await visitAll(full, { look, ...(look[0] === 'dark' && { rules: colourRules }) });
  });

  test.each([looks[0], looks[3]])('without any call: %s, %i px', async (...look) => {
    await visitAll(empty, { look });
  });

  test('while they load', async () => {
    await visitAll(full, { prepare: (page) => holdCalls(page, '/v1/') });
  });

  test('when the daemon fails', async () => {
    await visitAll(full, { prepare: (page) => failCalls(page, '/v1/') });
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

  test('their landmarks and headings', async () => {
    const { page } = await openScreen(empty);
    const outlines: Record<string, string[]> = {};
    for (const { name, title } of await screens()) {
      await page.goto(`${empty.url}/#/${name}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await settled(page);
      const tree = await page.locator('body').ariaSnapshot();
      const landmarks = tree
        .split('\n')
        .filter((line) => /^\s*- (banner|navigation|main|heading|region)\b/.test(line));
      outlines[name] = landmarks.map((line) => line.trim());
    }
    // One heading of the first level, in the only main part, after the navigation.
    for (const [name, lines] of Object.entries(outlines)) {
      expect(
        lines.filter((line) => line.startsWith('- main')),
        name,
      ).toHaveLength(1);
      expect(
        lines.filter((line) => line.includes('[level=1]')),
        name,
      ).toHaveLength(1);
      expect(
        lines.findIndex((line) => line.includes('navigation "Screens"')),
        name,
      ).toBeLessThan(lines.findIndex((line) => line.startsWith('- main')));
    }
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
    // Why was it slow, what was asked and answered, what did the provider get, why was it dear?
    await keys('j', 'Enter');
    await page.getByText(id, { exact: true }).waitFor();
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

/** Waits until nothing of the screen is loading. */
async function settled(page: Page): Promise<void> {
  await page.locator('[aria-busy=true], .loading, .skeleton').first().waitFor({ state: 'detached' });
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
