import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Threads and stored responses, as `npm run build` has written them. */

const hostile = '<img src=x onerror=alert(1)> Is it raining?';

describe.skipIf(chromium === undefined)('Threads & responses (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let thread: string;
  let response: string;

  beforeAll(async () => {
    daemon = await startDaemon();
    const headers = { authorization: `Bearer ${daemon.login}` };
    const made = await daemon.fetch('/v1/threads', { json: {}, headers });
    thread = ((await made.json()) as { thread: { id: string } }).thread.id;
    const call = { model: 'sim/echo', input: hostile, service: { thread } };
    const answer = await daemon.fetch('/v1/responses', { json: call, headers });
    response = ((await answer.json()) as { id: string }).id;
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  test('the lists, a thread and a response, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/threads',
      views: inAllLooks,
      until: [
        (page) => page.getByRole('link', { name: hostile }).waitFor(),
        async (page) => {
          await page.goto(`${daemon.url}/#/threads?show=responses`);
          await page.getByRole('link', { name: response }).waitFor();
        },
        async (page) => {
          await page.goto(`${daemon.url}/#/threads/${thread}`);
          await page.getByRole('listitem').getByText(hostile).nth(1).waitFor();
        },
        async (page) => {
          await page.goto(`${daemon.url}/#/threads/${response}`);
          await page.getByText('"sim/echo"').first().waitFor();
        },
      ],
    });
  });

  test('while it loads, when it fails, and what is not there', async () => {
    await checkScreen(daemon, {
      address: '/threads',
      prepare: (page) => holdCalls(page, '/v1/threads'),
      until: [
        (page) => page.getByText('Loading…').first().waitFor(),
        async (page) => {
          await failCalls(page, '/v1/threads');
          await page.reload();
          await page.getByText('Out of order.').waitFor();
        },
        async (page) => {
          await page.goto(`${daemon.url}/#/threads/th_none`);
          await page.getByRole('alert').first().waitFor();
        },
      ],
    });
  });

  test('a thread is renamed and deleted', async () => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    await (await daemon.fetch('/v1/threads', { json: { title: 'first title' }, headers })).text();
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/threads`);
    await page.getByRole('link', { name: 'first title' }).press('Enter');
    await page.getByText('No run has been completed in this thread.').waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('second title');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'second title', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: hostile }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'second title' }).count()).toBe(0);
    expect(incidents).toEqual(noIncidents);
  });
});
