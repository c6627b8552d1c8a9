import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** The Playground: requests to several models, and captured ones again. */

const tool = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };

describe.skipIf(chromium === undefined)('the Playground (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  const tracesOf = async (query: string) => {
    const answer = await daemon.fetch(`/v1/traces?${query}`, {
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    return ((await answer.json()) as { data: { model: string; replay_of: string | null }[] }).data;
  };

  test('with a request, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/playground',
      views: inAllLooks,
      until: async (page) => {
        await page.getByLabel('Message').fill('Hello!');
        await page.getByLabel('Model 1', { exact: true }).fill('sim/echo');
        await page.getByText('at most $0').waitFor();
        await page.getByText('The whole request as JSON').click();
        await page.getByRole('button', { name: 'Run' }).click();
        await page.getByRole('article', { name: 'assistant' }).getByText('Hello!').waitFor();
        await page.getByText('completed').waitFor();
      },
    });
  });

  test('two models answer side by side, more than once, and their answers are compared', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/playground`);
    await page.getByLabel('Message').fill('A bridge.');
    await page.getByLabel('Instructions').fill('Be brief.');
    await page.getByLabel('Temperature').fill('0.5');
    await page.getByLabel('Answers each').fill('2');
    await page.getByLabel('Model 1', { exact: true }).fill('sim/echo');
    await page.getByRole('button', { name: '+ Model' }).click();
    await page.getByLabel('Model 2', { exact: true }).fill('sim/refuses');
    await page.keyboard.press('Control+Enter');
    const echo = page.getByRole('region', { name: 'sim/echo' });
    await echo.getByText('2 answers, 1 different').waitFor();
    await page.getByRole('region', { name: 'sim/refuses' }).getByText('2 answers, 1 different').waitFor();
    await page.getByRole('button', { name: 'Diff answers' }).click();
    await page.getByRole('region', { name: 'Differences' }).getByText('removed: A bridge.').waitFor();
    expect((await tracesOf('tag=source%3Dplayground&model=sim/refuses')).length).toBe(2);
    // The draft stays in the tab.
    await page.reload();
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('A bridge.');
    await expect.poll(() => page.getByLabel('Model 2', { exact: true }).inputValue()).toBe('sim/refuses');
    expect(incidents).toEqual(noIncidents);
  });

  test('a conversation is repeated with its messages changed, and goes on from an answer', async () => {
    const messages = [
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'Two.' },
      { role: 'user', content: 'Three?' },
    ];
    const asked = await daemon.fetch('/v1/chat/completions', { json: { model: 'sim/echo', messages } });
    await asked.text();
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/playground?replay=${asked.headers.get('x-request-id')}`);
    await page.getByLabel('user 3').fill('Four, **five**?');
    await page.getByRole('button', { name: 'Remove message 2' }).click();
    await expect.poll(() => page.getByLabel('user 1').inputValue()).toBe('One?');
    await page.getByRole('button', { name: 'Run' }).click();
    const lane = page.getByRole('region', { name: 'sim/echo' });
    await lane.locator('strong', { hasText: 'five' }).waitFor();
    await page.getByRole('button', { name: 'Continue from this answer' }).click();
    await expect.poll(() => page.getByLabel('assistant 3').inputValue()).toContain('Four');
    await page.getByLabel('user 4').fill('Six?');
    await page.getByRole('button', { name: 'Run' }).click();
    await lane.getByText('Six?').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test.each([
    ['/v1/responses', { input: 'Weather?', tools: [tool] }],
    [
      '/v1/chat/completions',
      {
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: [{ type: 'function', function: { name: 'get_weather', parameters: tool.parameters } }],
      },
    ],
    [
      '/v1/messages',
      {
        max_tokens: 200,
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: [{ name: 'get_weather', input_schema: tool.parameters }],
      },
    ],
  ])('a captured request of %s is sent again, and its tools get results by hand', async (path, body) => {
    const first = await daemon.fetch(path, { json: { model: 'sim/assistant', ...body } });
    await first.text();
    const id = first.headers.get('x-request-id') ?? '';
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/calls/${id}`);
    await page.getByRole('link', { name: 'Replay' }).click();
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    const lane = page.getByRole('region', { name: 'sim/assistant' });
    await lane.getByLabel('Result of get_weather').fill('18 °C');
    await lane.getByRole('button', { name: 'Send the results' }).click();
    await lane.getByText('“18 °C”').waitFor();
    await lane.getByText('completed').waitFor();
    expect((await tracesOf(`replay_of=${id}`)).length).toBe(1);
    expect(incidents).toEqual(noIncidents);
  });

  test('what cannot be read is said, and an error of a model stays with it', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/playground`);
    await page.getByText('JSON schema of the answer').click();
    await page.getByLabel('JSON schema of the answer').fill('{"type": "obj');
    await page.getByText('This is not a JSON schema: an object.').waitFor();
    await page
      .getByLabel('JSON schema of the answer')
      .fill('{"type":"object","properties":{"a":{"type":"integer"}}}');
    await page.getByLabel('Message').fill('a: 7');
    await page.getByLabel('Model 1', { exact: true }).fill('sim/assistant');
    await page.getByRole('button', { name: '+ Model' }).click();
    await page.getByLabel('Model 2', { exact: true }).fill('sim/none');
    await page.getByText('There is no model "sim/none"').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('region', { name: 'sim/assistant' }).getByText('{"a":7}').waitFor();
    await page.getByRole('region', { name: 'sim/none' }).getByRole('alert').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a request that is not kept cannot be repeated', async () => {
    await checkScreen(daemon, {
      address: '/playground?replay=req_00000000000000000000000000',
      until: (page) => page.getByRole('alert').waitFor(),
    });
    await checkScreen(daemon, {
      address: '/playground',
      prepare: (page) => failCalls(page, '/v1/models'),
      until: (page) => page.getByRole('button', { name: 'Run' }).waitFor(),
    });
  });
});
