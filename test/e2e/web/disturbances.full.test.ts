import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents, openPage } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { askDaemon } from '../../support/users.ts';
import { openScreen, pressAfterG } from '../../support/web-screens.ts';

/** What happens to an open page when something happens to its login, its daemon, or what it shows. */

const script = `
models: [sim/long]
rules:
  - when: { model: sim/long }
    reply: "${'Bridges carry roads. '.repeat(2000)}"
    tokens_per_second: 20
`;

describe.skipIf(chromium === undefined)('an open page (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ simulate: script });
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  const ask = async (to: RunningDaemon, input: string, json: object = {}): Promise<string> => {
    const answer = await to.fetch('/v1/responses', { json: { model: 'sim/echo', input, ...json } });
    await answer.text();
    return answer.headers.get('x-request-id') ?? '';
  };
  const openLink = async (at: string) => {
    const watched = await openPage(daemon.url);
    const link = await askDaemon(daemon, 'POST', '/v1/sessions/links', { as: daemon.login, json: {} });
    await watched.page.goto(`${daemon.url}${link.body.path}/${at}`);
    return watched;
  };
  const connected = (page: Page) =>
    page.getByText('connected', { exact: true }).waitFor({ state: 'attached' });

  test('asks for a new sign-in once its login is ended elsewhere, though it only follows events', async () => {
    const { page, incidents } = await openLink('live');
    await connected(page);
    const { body } = await askDaemon(daemon, 'GET', '/v1/sessions', { as: daemon.login });
    const { id } = (body.data as { id: string; kind: string }[]).find(({ kind }) => kind === 'browser') ?? {};
    await askDaemon(daemon, 'DELETE', `/v1/sessions/${id}`, { as: daemon.login });
    await page.getByText('Your login has ended. Sign in again.').waitFor();
    await expect
      .poll(() => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'))
      .not.toContain('gwl_');
    expect(incidents).toEqual(noIncidents);
  });

  test('says that a used link cannot be used again', async () => {
    const watched = await openPage(daemon.url);
    const link = await askDaemon(daemon, 'POST', '/v1/sessions/links', { as: daemon.login, json: {} });
    await watched.page.goto(`${daemon.url}${link.body.path}`);
    await watched.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const other = await openPage(daemon.url, { isPrivate: true });
    await other.page.goto(`${daemon.url}${link.body.path}`);
    await other.page
      .getByRole('alert')
      .filter({ hasText: /used|expired/ })
      .waitFor();
    // The first one may have been someone else.
    await watched.page.getByText('Your login has ended. Sign in again.').waitFor();
  });

  test('has a navigation that works while a screen cannot show what it got', async () => {
    const { page } = await openScreen(daemon);
    await page.route('**/v1/keys**', (route) => route.fulfill({ json: { object: 'list', data: [null] } }));
    await page.route('**/v1/workspaces/*/keys**', (route) =>
      route.fulfill({ json: { object: 'list', data: [null], has_more: false } }),
    );
    await page.goto(`${daemon.url}/#/keys`);
    await page.getByRole('alert').filter({ hasText: 'Reload the page.' }).waitFor();
    await page.getByRole('link', { name: 'Live' }).first().click();
    await connected(page);
  });

  test('continues after the daemon was restarted, with what came since', async () => {
    const port = await freePort();
    let restarted = await startDaemon({ port });
    const { page, incidents } = await openScreen(restarted);
    await page.goto(`${restarted.url}/#/live`);
    await connected(page);
    await restarted.stop({ keep: true });
    await page.getByText('The connection to the gateway was lost.').waitFor();
    // A screen whose file was not loaded before is loaded as soon as the gateway is back.
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByText('The gateway does not answer.').waitFor();
    restarted = await startDaemon({ home: restarted.home, port });
    await page.getByRole('heading', { level: 1, name: 'Decisions' }).waitFor();
    await ask(restarted, 'After the restart.', { model: 'sim/assistant' });
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByRole('link', { name: 'sim/assistant' }).waitFor();
    await expect.poll(() => page.getByText('The connection to the gateway was lost.').count()).toBe(0);
    expect(incidents.violations).toEqual([]);
    await page.close();
    await restarted.stop();
  });

  test('loads the page of another version once', async () => {
    const { page } = await openScreen(daemon);
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.goto(`${daemon.url}/#/calls`);
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    expect(loads).toBe(1);
    await page.route('**/v1/usage*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({
        response: answer,
        headers: { ...answer.headers(), 'x-service-version': '99.0.0' },
      });
    });
    await pressAfterG(page, 'k');
    await expect.poll(() => loads).toBe(2);
    await page.getByRole('region', { name: 'Keys', exact: true }).getByText('default').waitFor();
    expect(loads).toBe(2);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('shows a call that still runs, and its content, as soon as it has ended', async () => {
    const { page, incidents } = await openScreen(daemon);
    const left = new AbortController();
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/long', input: 'Write.', stream: true },
      signal: left.signal,
    });
    const id = answer.headers.get('x-request-id') ?? '';
    await page.goto(`${daemon.url}/#/calls/${id}?tab=request`);
    await page.getByText('has not ended yet').waitFor();
    left.abort();
    await answer.text().catch(() => {});
    await page.getByRole('heading', { level: 1, name: 'sim/long' }).waitFor();
    await page.getByText('canceled').waitFor();
    await page.getByText('Write.', { exact: true }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('says on every screen that an alert fires', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/live`);
    await connected(page);
    await ask(daemon, 'Hello!', { model: 'sim/none' });
    const put = await askDaemon(daemon, 'PUT', '/v1/workspaces/me/alerts/refused', {
      as: daemon.login,
      json: { kind: 'rejections', window_minutes: 15, threshold: '1' },
    });
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    await page
      .getByRole('status')
      .filter({ hasText: /^refused: / })
      .waitFor();
    await page.getByRole('region', { name: 'Firing now' }).getByText('refused').waitFor();
    await pressAfterG(page, 'm');
    await page.getByRole('heading', { level: 1, name: 'Models & providers' }).waitFor();
    await page.getByRole('region', { name: 'Firing now' }).getByText('refused').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('says that content was deleted, and keeps the rest of the call', async () => {
    const id = await ask(daemon, 'Delete me.');
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/calls/${id}?tab=request`);
    await page.getByText('Delete me.').waitFor();
    await askDaemon(daemon, 'DELETE', `/v1/traces/${id}/content`, { as: daemon.login });
    await page.reload();
    await page.getByText('The content of this call is not kept').waitFor();
    await page.keyboard.press(']');
    await page.keyboard.press(']');
    await page.keyboard.press(']');
    await page.getByRole('tab', { selected: true, name: 'Cost' }).waitFor();
    await page.getByRole('rowheader', { name: 'Total' }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('shows calls whose file of content is damaged, without it', async () => {
    const config = 'capture: {content: disk}\n';
    let damaged = await startDaemon({ config });
    const id = await ask(damaged, 'On disk.');
    await damaged.stop({ keep: true });
    await writeFile(join(damaged.home, 'content.db'), 'This is no database.');
    await appendFile(join(damaged.home, 'content.db-wal'), 'Nor is this.');
    damaged = await startDaemon({ config, home: damaged.home });
    const { page, incidents } = await openScreen(damaged);
    await page.goto(`${damaged.url}/#/calls/${id}?tab=request`);
    await page.getByRole('heading', { level: 1, name: 'sim/echo' }).waitFor();
    await page.getByText(/not kept|damaged/).waitFor();
    await page.goto(`${damaged.url}/#/calls`);
    await page.getByRole('link', { name: 'sim/echo' }).waitFor();
    await ask(damaged, 'Later.', { model: 'sim/assistant' });
    // Named by the new calls, once their events have come.
    await page.getByRole('button', { name: /^(Refresh|1 new)$/ }).click();
    await page.getByRole('link', { name: 'sim/assistant' }).waitFor();
    expect(incidents.violations).toEqual([]);
    await page.close();
    await damaged.stop();
  });
});
