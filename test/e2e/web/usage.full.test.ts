import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Usage by groups, as `npm run build` has written it. The prices are those of two upstreams that a daemon stands for. */

describe.skipIf(chromium === undefined)('Usage (skipped without Chromium)', () => {
  let provider: RunningDaemon;
  let daemon: RunningDaemon;
  let empty: RunningDaemon;

  beforeAll(async () => {
    [provider, empty] = await Promise.all([startDaemon(), startDaemon()]);
    const upstream = (name: string, prices: string) =>
      `  - {name: ${name}, base_url: "${provider.url}/v1", key_env: PROVIDER_KEY, wire: chat, models: ["*"]${prices}}`;
    daemon = await startDaemon({
      config: `upstreams:\n${upstream('dear', ', prices: {input: "30", output: "60"}')}\n${upstream('unknown', '')}\n`,
      env: { PROVIDER_KEY: provider.key },
    });
    const call = async (model: string, headers: Record<string, string> = {}) =>
      await (await daemon.fetch('/v1/responses', { json: { model, input: 'Hello!' }, headers })).text();
    for (const model of ['dear/sim/echo', 'dear/sim/echo', 'sim/assistant', 'unknown/sim/echo', 'sim/broken'])
      await call(model, { 'user-agent': 'my-app/1.0' });
  });

  afterAll(async () => {
    await Promise.all([daemon?.stop(), empty?.stop()]);
    await provider?.stop();
  });

  const table = (page: Page) => page.getByRole('region', { name: 'Rows' });
  const hash = (page: Page) => new URLSearchParams(new URL(page.url()).hash.split('?')[1]);

  test('with calls, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/usage',
      views: inAllLooks,
      async until(page) {
        await page.getByRole('region', { name: 'Cost by model per day' }).locator('canvas').waitFor();
        await table(page).getByRole('link', { name: '2 calls of dear/sim/echo', exact: true }).waitFor();
        await page.getByText('1 call has no known price').waitFor();
        await page.getByRole('region', { name: 'Percentiles' }).getByText('sim/assistant').waitFor();
        const figures = page.getByRole('region', { name: 'The last 30 days' });
        await expect.poll(() => figures.innerText()).toMatch(/Calls\s+5\s/);
        await expect.poll(() => figures.innerText()).toMatch(/Errors\s+1\s/);
      },
    });
  });

  test('without calls, and while a part of it has failed or loads', async () => {
    await checkScreen(empty, {
      address: '/usage',
      until: (page) => page.getByText('No calls in the last 30 days.').first().waitFor(),
    });
    await checkScreen(daemon, {
      address: '/usage',
      prepare: (page) => failCalls(page, '/v1/usage/latency'),
      until: [
        async (page) => {
          const latency = page.getByRole('region', { name: 'First token by model' });
          await latency.getByText('Out of order.').waitFor();
          await table(page).getByRole('row', { name: /dear/ }).waitFor();
        },
        async (page) => {
          await holdCalls(page, '/v1/usage/series');
          await page.reload();
          await page.getByText('Loading…').first().waitFor();
        },
      ],
    });
  });

  test('columns add up to the totals, by whatever they are grouped', async () => {
    const { page } = await openScreen(daemon);
    const rows = table(page).locator('tbody tr');
    const sums = table(page).locator('tfoot td.number');
    const number = (text = '') => Number(text.replaceAll(/[$,]/g, ''));
    for (const [address, head] of [
      ['/usage', 'Model'],
      ['/usage?rows=time', 'Time'],
      ['/usage?by=model&and=key', 'Key'],
      ['/usage?by=client', 'Client'],
      ['/usage?by=status&range=24h', 'Status'],
    ] as const) {
      await page.goto(`${daemon.url}/#${address}`);
      await table(page).getByRole('columnheader', { name: head, exact: true }).waitFor();
      await page.locator('.is-stale').first().waitFor({ state: 'detached' });
      await rows.first().waitFor();
      await expect.poll(() => sums.first().innerText(), { message: address }).toBe('5');
      const columns = await sums.count();
      for (let fromEnd = 1; fromEnd <= columns; fromEnd += 1) {
        const total = number(await sums.nth(columns - fromEnd).innerText());
        const sum = async () => {
          const shown = (await rows.allInnerTexts()).map((text) => number(text.split('\t').at(-fromEnd)));
          return shown.reduce((all, each) => all + each, 0);
        };
        // Amounts are rounded for people.
        await expect.poll(sum, { message: `${address}, column ${-fromEnd}` }).toBeCloseTo(total, 3);
      }
    }
  });

  test('calls that cost nothing are counted, unless their cost is asked for', async () => {
    const { page, incidents } = await openScreen(provider);
    await page.goto(`${provider.url}/#/usage`);
    await page.getByRole('region', { name: 'Calls by model per day' }).locator('canvas').waitFor();
    await page.getByRole('group', { name: 'Measure' }).getByRole('button', { name: 'Cost' }).click();
    await page.getByRole('region', { name: 'Cost by model per day' }).locator('canvas').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a click on a group shows its calls only, and the filter can be taken away', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/usage`);
    await table(page).getByRole('link', { name: 'Only dear/sim/echo' }).press('Enter');
    await page.getByRole('region', { name: 'Cost by key per day' }).waitFor();
    await table(page).getByRole('link', { name: '2 calls of default', exact: true }).waitFor();
    await expect.poll(() => hash(page).get('model')).toBe('dear/sim/echo');
    await table(page).getByRole('link', { name: '2 calls of default', exact: true }).click();
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await expect
      .poll(() => hash(page).get('q'))
      .toMatch(/^model:dear\/sim\/echo key:key_\w+ since:\S+ until:\S+$/);
    await page.goBack();
    await page.getByRole('button', { name: 'Remove the filter model dear/sim/echo' }).click();
    await table(page).getByRole('link', { name: '5 calls of default', exact: true }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('two groups at once, and the file of the table has its rows exactly', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/usage`);
    await page.getByRole('combobox', { name: 'and', exact: true }).selectOption('Key');
    await table(page).getByRole('link', { name: '2 calls of dear/sim/echo, default', exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-by-model-key-[\d-]{21}\.csv$/);
    const [head, ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    // With a mark by which spreadsheets know UTF-8.
    expect(head).toBe(
      '\uFEFFmodel,key,calls,rejected,input_tokens,cached_input_tokens,output_tokens,cost_usd',
    );
    expect(lines.map((line) => line.split(',').slice(0, 3).join(' ')).toSorted()).toEqual([
      'dear/sim/echo default 2',
      'sim/assistant default 1',
      'sim/broken default 1',
      'unknown/sim/echo default 1',
    ]);
    const listed = (await (
      await daemon.fetch('/v1/usage?group_by=model', { headers: { authorization: `Bearer ${daemon.login}` } })
    ).json()) as { data: { group: string; cost: { total_usd: string } }[] };
    const dear = listed.data.find(({ group }) => group === 'dear/sim/echo');
    expect(lines[0]?.split(',').at(-1)).toBe(dear?.cost.total_usd);

    await page.goto(`${daemon.url}/#/settings`);
    await page.getByRole('button', { name: 'a;b;1,5', exact: true }).click();
    await page.goBack();
    await table(page).getByRole('link', { name: '2 calls of dear/sim/echo, default', exact: true }).waitFor();
    const [german] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [, first] = (await readFile(await german.path(), 'utf8')).split('\r\n');
    expect(first?.split(';').at(-1)).toBe(dear?.cost.total_usd.replace('.', ','));
    expect(incidents).toEqual(noIncidents);
  });

  test('a period is chosen by its days and by dragging over a chart, and Back returns to the one before', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/usage`);
    const today = new Date().toISOString().slice(0, 10);
    await page.getByRole('button', { name: /^Custom/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From').fill(today);
    await dialog.getByLabel('To').fill('2020-02-01');
    await dialog.getByRole('button', { name: 'Show it' }).click();
    await dialog.getByText('It ends before it begins.').waitFor();
    await dialog.getByLabel('To').fill(today);
    await dialog.getByRole('button', { name: 'Show it' }).click();
    await page.getByRole('region', { name: 'Cost by model per hour' }).locator('canvas').waitFor();
    await expect.poll(() => hash(page).get('since')).toBe(`${today}T00:00:00.000Z`);
    await table(page).getByRole('link', { name: '2 calls of dear/sim/echo', exact: true }).waitFor();
    await page
      .getByRole('group', { name: 'Period' })
      .getByRole('button', { name: '30d', exact: true })
      .click();
    await page.getByRole('region', { name: 'Cost by model per day' }).locator('canvas').waitFor();
    await expect.poll(() => hash(page).has('since')).toBe(false);
    const drag = async () => {
      const box = await page.locator('.u-over').first().boundingBox();
      const { x = 0, y = 0, width = 0, height = 0 } = box ?? {};
      const at = (share: number) => [x + width * share, y + height / 2] as const;
      await page.mouse.move(...at(0.75));
      await page.mouse.down();
      await page.mouse.move(...at(0.9), { steps: 4 });
      await page.mouse.move(...at(0.99), { steps: 4 });
      await page.mouse.up();
    };
    // Figures that come in the middle of a drag draw another chart, which begins without it.
    await expect.poll(() => drag().then(() => page.evaluate('location.hash'))).toContain('since=');
    await page.getByRole('button', { name: /^Period: / }).waitFor();
    const days = () =>
      (Date.parse(hash(page).get('until') ?? '') - Date.parse(hash(page).get('since') ?? '')) / 86_400_000;
    await expect.poll(days).toBe(8);
    await page.goBack();
    await expect.poll(() => hash(page).has('since')).toBe(false);
    const zones = page.getByRole('combobox', { name: 'Zone' });
    await zones.focus();
    await zones.selectOption('Asia/Kathmandu');
    await page.getByTitle('Days begin at midnight in Asia/Kathmandu').waitFor();
    expect(incidents).toEqual(noIncidents);
  });
});
