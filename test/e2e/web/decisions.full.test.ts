import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Decisions, as `npm run build` has written them. */

describe.skipIf(chromium === undefined)('Decisions (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
    await (
      await daemon.fetch('/v1/admin/decisions/calibrations', {
        json: {
          model: 'sim/assistant',
          type: 'choice',
          temperature: 1.5,
          examples: 40,
          nll_before: 0.9,
          nll_after: 0.7,
        },
        method: 'PUT',
        headers: { authorization: `Bearer ${daemon.login}` },
      })
    ).text();
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  test('two models compared, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/decisions',
      views: inAllLooks,
      async until(page) {
        await page.getByLabel('Models').fill('sim/assistant\nsim/refuses');
        await page.getByRole('button', { name: 'Ask', exact: true }).click();
        const answers = page.getByRole('region', { name: 'sim/assistant' });
        await answers.getByRole('rowheader', { name: 'billing' }).waitFor();
        await answers.getByText('calibrated').waitFor();
        await page.getByRole('region', { name: 'sim/refuses' }).getByText('declined').waitFor();
        await page
          .getByRole('region', { name: 'Fits' })
          .getByText('0.900 → 0.700')
          .waitFor({ state: 'attached' });
      },
    });
  });

  test('probabilities of choices and of a statement add up to one; a model that fails says why', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/decisions`);
    await page.getByLabel('Models').fill('sim/assistant\nsim/limited');
    const answers = page.getByRole('region', { name: 'sim/assistant' });
    const total = async () => {
      const texts = await answers.getByRole('cell').allInnerTexts();
      return texts.reduce((sum, text) => sum + Number(text.replace('%', '')), 0);
    };
    await page.getByRole('button', { name: 'Ask', exact: true }).press('Enter');
    await answers.getByRole('rowheader', { name: 'outage' }).waitFor();
    await expect.poll(total).toBeCloseTo(100, 0);
    await page.getByRole('region', { name: 'sim/limited' }).getByRole('alert').waitFor();
    await page.getByLabel('Kind of question').selectOption('Is a statement true?');
    await page.getByLabel('Question', { exact: true }).fill('The message is about a charge.');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await answers.getByRole('rowheader', { name: 'false' }).waitFor();
    await expect.poll(total).toBeCloseTo(100, 0);
    expect(incidents).toEqual(noIncidents);
  });

  test('a fit is removed; a list that fails says so', async () => {
    await checkScreen(daemon, {
      address: '/decisions',
      prepare: (page) => failCalls(page, '/v1/admin/decisions/calibrations'),
      until: (page) => page.getByText('Out of order.').waitFor(),
    });
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/decisions`);
    await page.getByRole('button', { name: 'Remove the fit of sim/assistant for choice' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No model is calibrated.').waitFor();
    expect(incidents).toEqual(noIncidents);
  });
});
