import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeChatServer, startFakeChatServer } from '../../support/fake-chat-server.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { faultsAtWidths, listScreens, openScreen } from '../../support/web-screens.ts';

/** All screens at the widths of phones, tablets and laptops, with long names, two workspaces and large numbers. */

const widths = [360, 390, 768, 1280];
const long = (what: string) => `${what}-with-a-name-that-is-much-longer-than-anyone-would-like-${what}`;

describe.skipIf(chromium === undefined)('all screens at all widths (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let server: FakeChatServer;

  beforeAll(async () => {
    server = await startFakeChatServer({ prompt_tokens: 123_456, completion_tokens: 987 });
    const upstream = (name: string, prices: string) =>
      `  - { name: ${name}, base_url: "${server.url}", models: ["*"], prices: ${prices} }\n`;
    daemon = await startDaemon({
      config: `vault: {keychain: false, insecure_plain_file: true}
upstreams:
${upstream('dear', '{ input: "3999", output: "3999" }')}${upstream('an-upstream-with-a-very-long-name', '{ input: "0.000001", output: "0.000003" }')}
aliases: { "${long('alias')}": sim/echo }
`,
    });
    const headers = { authorization: `Bearer ${daemon.login}` };
    const post = async (path: string, json: unknown, init: RequestInit = {}) =>
      (await daemon.fetch(path, { ...init, json, headers: { ...headers, ...init.headers } })).json();
    await post('/v1/workspaces', { name: long('workspace') });
    await post('/v1/admin/users', { handle: 'a-user-with-a-long-handle-000000' });
    const { secret } = (await post('/v1/workspaces/me/keys', {
      name: 'a-key-with-a-name-as-long-as-names-of-keys-may-be-0123456789',
      limits: { spend_cap: { usd: '1000000', period: 'month' }, requests_per_minute: 100_000 },
    })) as { secret: string };
    const ask = async (model: string, more: object = {}) =>
      await (
        await daemon.fetch('/v1/chat/completions', {
          json: {
            model,
            user: long('user'),
            messages: [{ role: 'user', content: `Hello ${long('word')}` }],
            ...more,
          },
          headers: { authorization: `Bearer ${secret}`, 'user-agent': `${long('client')}/1.2.3` },
        })
      ).text();
    for (const model of ['dear/m', `an-upstream-with-a-very-long-name/${long('model')}`, 'sim/echo'])
      for (let at = 0; at < 3; at += 1) await ask(model);
    // A thousand dollars.
    await ask('dear/m', { messages: [{ role: 'user', content: 'word '.repeat(100_000) }] });
    await ask('sim/error', { metadata: { team: long('team') } });
    await ask(long('missing'));
  });

  afterAll(async () => {
    await daemon?.stop();
    server?.close();
  });

  const faultsAt = async (page: Page, what: string) =>
    (await faultsAtWidths(page, widths)).map((fault) => `${what}, ${fault}`);
  const settled = async (page: Page) => {
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  };

  test('nothing is outside, covered or cut', async () => {
    const { page } = await openScreen(daemon);
    const faults: string[] = [];
    await page.goto(`${daemon.url}/#/overview`);
    const screens = await listScreens(page);
    for (const { name, title } of screens) {
      await page.goto(`${daemon.url}/#/${name}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await settled(page);
      faults.push(...(await faultsAt(page, name)));
    }
    expect(screens.length).toBeGreaterThan(4);
    expect(faults).toEqual([]);
  });

  test('nor on the page of a call, on any of its tabs', async () => {
    const { page } = await openScreen(daemon);
    const traces = await daemon.fetch('/v1/traces?limit=10&status=completed', {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const { data } = (await traces.json()) as { data: { request_id: string }[] };
    await page.goto(`${daemon.url}/#/calls/${data.at(-1)?.request_id}`);
    const tabs = page.getByRole('tab');
    await tabs.first().waitFor();
    const faults: string[] = [];
    for (const tab of await tabs.all()) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await tab.click();
      await settled(page);
      faults.push(...(await faultsAt(page, `a call, ${await tab.textContent()}`)));
    }
    expect(faults).toEqual([]);
  });

  test('on phones a button opens the navigation', async () => {
    const { page } = await openScreen(daemon, { width: 360 });
    await page.goto(`${daemon.url}/#/usage`);
    const button = page.getByRole('button', { name: 'Menu: Usage' });
    await button.click();
    await expect.poll(() => faultsAtWidths(page, [360])).toEqual([]);
    await page.getByRole('link', { name: 'Keys & limits' }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys & limits' }).waitFor();
    await page.getByRole('link', { name: 'Usage' }).waitFor({ state: 'hidden' });
  });
});
