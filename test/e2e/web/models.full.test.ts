import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Providers, models and provider keys, as `npm run build` has written them. */

describe.skipIf(chromium === undefined)('Models & providers (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n' });
    for (const model of ['sim/assistant', 'sim/assistant', 'sim/limited', 'sim/limited', 'sim/limited'])
      await (await daemon.fetch('/v1/responses', { json: { model, input: 'Hello!' } })).text();
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  const models = (page: Page) => page.getByRole('region', { name: 'Models', exact: true });

  test('with calls, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/models',
      views: inAllLooks,
      async until(page) {
        const health = page.getByRole('region', { name: 'Providers, last 24 hours' });
        await health.getByRole('row').filter({ hasText: 'sim/assistant' }).getByText('100 %').waitFor();
        await health
          .getByRole('row')
          .filter({ hasText: 'sim/limited' })
          .getByText('0 %', { exact: true })
          .waitFor();
        await health.getByRole('link', { name: 'rate_limited' }).waitFor();
        await models(page).getByText('sim/assistant', { exact: true }).waitFor();
        await page.getByText('None. A key of your own pays').waitFor();
      },
    });
  });

  test('while a part of it loads, and another one has failed', async () => {
    await checkScreen(daemon, {
      address: '/models',
      async prepare(page) {
        await holdCalls(page, '/v1/models');
        await failCalls(page, '/v1/providers/health');
      },
      async until(page) {
        await page.getByText('Loading…').first().waitFor();
        await page.getByText('Out of order.').waitFor();
        await page.getByText('None. A key of your own pays').waitFor();
      },
    });
  });

  test('models are found by words and ordered, and what is shown is in the address', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/models`);
    await page.getByLabel('Filter models').fill('GPT-5 openai');
    await models(page).getByText('openai/gpt-5-mini', { exact: true }).waitFor();
    await models(page).getByText('sim/assistant').waitFor({ state: 'detached' });
    const output = models(page).getByRole('columnheader', { name: 'Output' }).getByRole('button');
    // The dearest first, then the cheapest.
    await output.click();
    await output.click();
    await page.reload();
    await models(page).getByText('openai/gpt-5-mini', { exact: true }).waitFor();
    const prices = async () => {
      const texts = await models(page).locator('tbody tr td:nth-child(5)').allInnerTexts();
      return texts.filter((text) => text.startsWith('$')).map((text) => Number(text.slice(1)));
    };
    await expect
      .poll(prices)
      .toSatisfy(
        (shown: number[]) => shown.length > 2 && String(shown) === String(shown.toSorted((a, b) => a - b)),
      );
    await page.getByRole('link', { name: 'rate_limited' }).press('Enter');
    await page.getByText('sim/limited').first().waitFor();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/calls\/req_/);
    expect(incidents).toEqual(noIncidents);
  });

  test('a provider key is set, replaced and deleted, and never shown', async () => {
    const secret = `sk-ant-${'a1'.repeat(20)}`;
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/models?q=sim`);
    await page.getByRole('button', { name: 'Set a key' }).press('Enter');
    await page.getByLabel('Provider', { exact: true }).selectOption('anthropic');
    await page.getByLabel('Key', { exact: true }).fill('short');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Key', { exact: true }).fill(secret);
    await page.keyboard.press('Enter');
    const keys = page.getByRole('region', { name: 'Provider keys of the workspace' });
    await keys.getByRole('rowheader', { name: 'anthropic' }).waitFor();
    const fingerprint = await keys.locator('code').innerText();
    await page.getByRole('button', { name: 'Replace the key of anthropic' }).click();
    await page.getByLabel('Key', { exact: true }).fill(`${secret}b2`);
    await page.keyboard.press('Enter');
    await expect.poll(() => keys.locator('code').innerText()).not.toBe(fingerprint);
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Delete the key of anthropic' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('None. A key of your own pays').waitFor();
    expect(incidents).toEqual(noIncidents);
  });
});
