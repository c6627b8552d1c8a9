import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { givePlayMoney } from '../../support/play-money.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addPerson } from '../../support/users.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Wallet & paywalls, as `npm run build` has written them. */

/** Without a keychain, as in a container. */
const config = 'vault: {keychain: false, insecure_plain_file: true}\n';
const hostile = '<img src=x onerror=alert(1)> two coffees';

describe.skipIf(chromium === undefined)('Wallet & paywalls (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let fresh: RunningDaemon;

  beforeAll(async () => {
    [daemon, fresh] = await Promise.all([startDaemon({ config }), startDaemon({ config })]);
    await api('/api/agents/me/wallet', {});
    await api('/api/agents/me/wallet/faucet', { amountSats: 12_345 });
    await api('/api/payments/invoice', { amountSats: 1500, description: hostile });
    for (const name of ['weather', 'maps'])
      await api('/api/l402/paywalls', {
        name,
        match: { pathPrefix: `/${name}` },
        upstream: { url: 'http://127.0.0.1:9' },
        priceSats: 21,
      });
  });

  afterAll(async () => {
    await Promise.all([daemon?.stop(), fresh?.stop()]);
  });

  async function api(path: string, json?: unknown): Promise<unknown> {
    const answer = await daemon.fetch(path, {
      ...(json !== undefined && { json }),
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const text = await answer.text();
    expect(answer.ok, text).toBe(true);
    return JSON.parse(text);
  }

  test('with money, invoices and paywalls, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/wallet',
      views: inAllLooks,
      async until(page) {
        await page.getByRole('region', { name: 'Balance' }).getByText('12,345 sats').waitFor();
        await page.getByText(hostile).waitFor();
        await page.getByRole('rowheader', { name: 'weather' }).waitFor();
      },
    });
  });

  test('while a part of it loads, and another one has failed', async () => {
    await checkScreen(daemon, {
      address: '/wallet',
      async prepare(page) {
        await holdCalls(page, '/api/payments');
        await failCalls(page, '/api/l402/paywalls');
      },
      async until(page) {
        await page.getByText('Loading…').first().waitFor();
        await page.getByText('12,345 sats').waitFor();
        await page.getByRole('region', { name: 'Paywalls' }).getByText('Out of order.').waitFor();
      },
    });
  });

  test('a wallet is created and gets play money; its words are shown once', async () => {
    const { page, incidents } = await openScreen(fresh);
    await page.goto(`${fresh.url}/#/wallet`);
    await page.getByRole('button', { name: 'Create a wallet' }).click();
    const words = page.getByRole('dialog').locator('.secret code');
    await expect.poll(async () => (await words.innerText()).split(' ').length).toBe(12);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Add play money' }).click();
    await page.getByLabel('Sats', { exact: true }).fill('half');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Enter a whole number of sats, such as 1500.').waitFor();
    await page.getByLabel('Sats', { exact: true }).fill('2,000');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('region', { name: 'Balance' }).getByText('2,000 sats').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('an invoice is a QR code and a text, and says when it is paid', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/wallet`);
    await page.getByRole('button', { name: 'Create an invoice' }).click();
    await page.getByLabel('Amount in sats').fill('21');
    await page.getByLabel('What is paid for').fill('tea');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Invoice of 21 sats' });
    await dialog.getByRole('img', { name: 'The invoice as a QR code' }).waitFor();
    const text = dialog.locator('.secret code');
    await expect.poll(() => text.innerText()).toMatch(/^ln/);
    const invoice = await text.innerText();
    const payer = await addPerson(daemon, 'payer');
    await givePlayMoney(daemon, payer.login, 100);
    const paid = await daemon.fetch('/api/payments/pay', {
      json: { invoice },
      headers: { authorization: `Bearer ${payer.login}` },
    });
    expect(await paid.json()).toMatchObject({ data: { payment: { status: 'succeeded' } } });
    await dialog.getByRole('status').filter({ hasText: 'Paid: 21 sats' }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a paywall is paused after a question, and resumed', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/wallet`);
    const row = page.getByRole('row').filter({ hasText: 'weather' });
    await row.getByRole('button', { name: 'Pause weather' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await row.getByText('paused').waitFor();
    expect(await api('/api/l402/paywalls/weather')).toMatchObject({ data: { status: 'paused' } });
    await row.getByRole('button', { name: 'Resume weather' }).click();
    await row.getByText('active').waitFor();
    expect(await api('/api/l402/paywalls/weather')).toMatchObject({ data: { status: 'active' } });
    expect(incidents).toEqual(noIncidents);
  });
});
