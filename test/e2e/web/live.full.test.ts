import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** The screen Live, and the stream of events that all tabs share. */

const script = `
models: [sim/long]
rules:
  - when: { model: sim/long }
    reply: "${'Bridges carry roads. '.repeat(200)}"
    tokens_per_second: 20
`;

describe.skipIf(chromium === undefined)('Live (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ simulate: script });
    await ask('sim/echo');
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  const ask = async (model: string, text = 'Hello.') =>
    await (await daemon.fetch('/v1/responses', { json: { model, input: text } })).text();

  /** Starts a call that runs until it is left. */
  const run = async () => {
    const left = new AbortController();
    const body = { model: 'sim/long', stream: true, input: 'Write.' };
    const answer = await daemon.fetch('/v1/responses', { json: body, signal: left.signal });
    return async () => {
      left.abort();
      await answer.text().catch(() => {});
    };
  };

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('with calls, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/live',
      views: inAllLooks,
      until: async (page) => {
        await page.getByRole('link', { name: 'sim/echo' }).first().waitFor();
        await page.getByText('connected', { exact: true }).waitFor({ state: 'attached' });
      },
    });
  });

  test('when its calls cannot be loaded', async () => {
    await checkScreen(daemon, {
      address: '/live',
      prepare: (page) => failCalls(page, '/v1/traces'),
      until: (page) => page.getByText('Out of order.').waitFor(),
    });
  });

  test('a running call counts up, and new ones wait while the list is paused', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/live`);
    await page.getByText('connected', { exact: true }).waitFor({ state: 'attached' });
    await row(page, 'sim/echo').waitFor();
    const stop = await run();
    const running = row(page, 'running');
    await running.waitFor();
    await page.getByText('1 running').waitFor();
    const tokens = async () => Number(/→(\d+)/.exec(await running.innerText())?.[1]);
    await expect.poll(tokens).toBeGreaterThan(0);
    const before = await tokens();
    await expect.poll(tokens).toBeGreaterThan(before);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    const count = await page.getByRole('row').count();
    await ask('sim/assistant');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(count);
    await page.getByRole('button', { name: '1 new' }).click();
    await row(page, 'sim/assistant').waitFor();
    await page.keyboard.press('p');
    await stop();
    await row(page, 'canceled').waitFor();
    await page.getByText('0 running').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a running call is canceled for its client, too', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/live`);
    await page.getByText('connected', { exact: true }).waitFor({ state: 'attached' });
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/long', stream: true, input: 'Write.' },
    });
    await page.getByRole('button', { name: 'Cancel the call of sim/long' }).click();
    await page.getByText('The call was canceled.').waitFor();
    expect(await answer.text()).toContain('conflict');
    await expect.poll(() => page.getByRole('button', { name: 'Cancel the call' }).count()).toBe(0);
    expect(incidents).toEqual(noIncidents);
  });

  test('tabs share one stream; when its tab is closed, another one goes on', async () => {
    const { page: first } = await openScreen(daemon);
    const streams: string[] = [];
    const noteStream = (request: Request) => {
      if (new URL(request.url()).pathname === '/v1/events') streams.push(request.url());
    };
    first.on('request', noteStream);
    await first.goto(`${daemon.url}/#/live`);
    await first.getByText('connected', { exact: true }).waitFor({ state: 'attached' });
    const second = await first.context().newPage();
    second.on('request', noteStream);
    await second.addInitScript({
      content: `sessionStorage.setItem('gateway.login', ${JSON.stringify(JSON.stringify({ secret: daemon.login, isOwn: false }))})`,
    });
    await second.goto(`${daemon.url}/#/live`);
    await second.getByText('connected', { exact: true }).waitFor({ state: 'attached' });
    expect(streams).toHaveLength(1);
    await ask('sim/refuses');
    await Promise.all([first, second].map((page) => row(page, 'sim/refuses').waitFor()));
    await first.close();
    // After the last event that the first tab passed on: nothing between is missed.
    await expect.poll(() => streams.length).toBe(2);
    expect(streams[1]).toMatch(/[?&]after=\d+/);
    await ask('sim/filtered');
    await row(second, 'sim/filtered').waitFor();
  });

  test('many calls are read as digests, and other screens follow', async () => {
    const { page } = await openScreen(daemon);
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/events')) streams.push(request.url());
    });
    await page.goto(`${daemon.url}/#/overview?range=1h`);
    const figures = page.getByRole('region', { name: 'The last hour' });
    await figures.waitFor();
    const shown = async () =>
      Number(/Calls\s+([\d,]+)/.exec(await figures.innerText())?.[1]?.replace(',', ''));
    await expect.poll(shown).toBeGreaterThan(0);
    const before = await shown();
    let made = 0;
    // A busy machine makes more than 50 a second only now and then.
    while (made < 240 || !streams.some((url) => url.includes('digest='))) {
      await Promise.all(Array.from({ length: 80 }, () => ask('sim/echo')));
      made += 80;
    }
    await expect.poll(shown).toBe(before + made);
  });

  test('a lost stream is announced with a countdown, and what was missed is loaded', async () => {
    const { page } = await openScreen(daemon);
    let isLost = true;
    await page.route('**/v1/events*', (route) => (isLost ? route.abort() : route.continue()));
    await page.goto(`${daemon.url}/#/live`);
    await page.getByText('The connection to the gateway was lost.').waitFor();
    const tryNow = page.getByRole('button', { name: 'Try now' });
    // The countdown gets longer with each failure.
    for (let failures = 0; failures < 4; failures += 1) await tryNow.click();
    await page.getByText(/Trying again in [123]\d s\./).waitFor();
    await ask('sim/broken');
    isLost = false;
    await tryNow.click();
    await row(page, 'sim/broken').waitFor();
    await expect.poll(() => page.getByText('The connection to the gateway was lost.').count()).toBe(0);
  });
});
