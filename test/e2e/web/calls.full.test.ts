import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults, noIncidents, openPage } from '../../support/browser.ts';
import { hostileTexts } from '../../support/hostile-texts.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, inBothThemesAndWidths } from '../../support/web-screens.ts';

/** The list of calls and a call on its own page, in Chromium. */

const tabs = [
  'conversation',
  'timeline',
  'request',
  'answer',
  'attempts',
  'cost',
  'diff',
  'headers',
  'raw',
] as const;

describe.skipIf(chromium === undefined)('in Chromium (skipped where it is not installed)', () => {
  let daemon: RunningDaemon;
  /** The request with a conversation. */
  let conversation: string;

  const ask = async (path: string, json: unknown, headers: Record<string, string> = {}): Promise<string> => {
    const answer = await daemon.fetch(path, { json, headers });
    await answer.text();
    return answer.headers.get('x-request-id') ?? '';
  };
  const asLogin = () => ({ authorization: `Bearer ${daemon.login}` });
  const signedIn = async (options: Parameters<typeof openPage>[1] = {}, at = 'calls') => {
    const watched = await openPage(daemon.url, options);
    const link = await daemon.fetch('/v1/sessions/links', { json: {}, headers: asLogin() });
    const { path } = (await link.json()) as { path: string };
    await watched.page.goto(`${daemon.url}${path}/${at}`);
    return watched;
  };
  const openTab = async (page: Page, id: string, tab: string) => {
    await page.goto(`${daemon.url}/#/calls/${id}?tab=${tab}`);
    await page.getByRole('tab', { selected: true, name: new RegExp(tab, 'i') }).waitFor();
  };

  beforeAll(async () => {
    daemon = await startDaemon();
    for (let at = 0; at < 60; at++) await ask('/v1/responses', { model: 'sim/echo', input: `Hello ${at}.` });
    await ask('/v1/responses', { model: 'sim/none', input: 'Hello.' });
    conversation = await ask('/v1/chat/completions', {
      model: 'sim/assistant',
      stream: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is in the file?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Bridges.' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'read_file', description: 'Reads.', parameters: { type: 'object' } },
        },
      ],
    });
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  test('no screen has a fault that axe finds, breaks its policy, or is wider than the window', async () => {
    await checkScreen(daemon, {
      address: '/calls',
      views: inBothThemesAndWidths,
      until: [
        (page) => page.getByRole('table').waitFor(),
        ...tabs.map((tab) => async (page: Page) => {
          await openTab(page, conversation, tab);
          await page.locator('.tab-panel > *').first().waitFor();
        }),
      ],
    });
  });

  test('the list loads its pages, and holds few rows at a time', async () => {
    const { page } = await signedIn();
    const box = page.getByRole('region', { name: 'Calls' });
    await box.waitFor();
    // As long as there are more, no one knows how many.
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('-1');
    await box.press('End');
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('63');
    await box.press('End');
    await page.locator('tr[aria-rowindex="63"]').waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBeLessThan(60);
  });

  test('a filter is in the address, shows what it cannot read, and is kept by the steps between calls', async () => {
    const { page } = await signedIn();
    await page.getByRole('table').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('status:rejected');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('2');
    await expect.poll(() => page.url()).toContain('q=status%3Arejected');
    await page.reload();
    await page.getByRole('link', { name: 'sim/none' }).click();
    await page.getByRole('heading', { name: 'sim/none' }).waitFor();
    await expect.poll(() => page.url()).toContain('q=status%3Arejected');
    await page.keyboard.press('Escape');
    await page.getByLabel('Filter').fill('nonsense:1');
    await page.keyboard.press('Enter');
    await page.locator('#query-fault').filter({ hasText: 'nonsense' }).waitFor();
  });

  test('keys walk the list, open a call, its tabs and its neighbours', async () => {
    const { page } = await signedIn();
    await page.getByRole('table').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'sim/assistant' }).waitFor();
    await expect.poll(() => page.url()).toContain(conversation);
    await page.getByRole('tab', { selected: true, name: 'Conversation' }).waitFor();
    await page.keyboard.press(']');
    await page.getByRole('tab', { selected: true, name: 'Timeline' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'sim/none' }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'sim/assistant' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('tr[aria-rowindex="2"]').waitFor();
  });

  test('two rows are compared, and a call with the one it followed', async () => {
    const { page, incidents } = await signedIn();
    const row = (at: number) => page.locator(`tr[aria-rowindex="${at}"]`);
    await row(6).getByRole('checkbox').check();
    await row(4).getByRole('checkbox').check();
    await page.keyboard.press('D');
    await page.getByRole('region', { name: 'Request' }).getByText('removed: Hello 57.').waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('added: Hello 59.').waitFor();
    // Without another one, it is the call before of the same key, model and client.
    await page.getByLabel('Compare with').fill('');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'Request' }).getByText('removed: Hello 58.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(incidents).toEqual(noIncidents);
  });

  test('a range of the histogram, columns, saved filters and groups are chosen, and stay', async () => {
    const { page, incidents } = await signedIn();
    const bars = page.locator('.range-bars-area');
    const { x, y, width, height } = (await bars.boundingBox()) as NonNullable<
      Awaited<ReturnType<typeof bars.boundingBox>>
    >;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2);
    await page.mouse.up();
    await expect
      .poll(() => new URLSearchParams(page.url().split('?')[1]).get('q'))
      .toMatch(/^since:\S+ until:\S+$/);
    await page.getByRole('link', { name: 'sim/assistant' }).waitFor();
    await page.getByText('Saved', { exact: true }).click();
    await page.getByRole('button', { name: 'Save this filter' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'All times' }).click();
    await page.getByText('Columns').click();
    await page.getByLabel('Endpoint').check();
    await page.getByLabel('Key', { exact: true }).uncheck();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'By conversation' }).click();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Endpoint' }).waitFor();
    await page.getByRole('columnheader', { name: 'Calls' }).waitFor();
    await expect.poll(() => page.getByRole('columnheader', { name: 'Key', exact: true }).count()).toBe(0);
    await page.getByText('Saved', { exact: true }).click();
    await page.getByRole('button', { name: /^since:\S+ until:\S+$/ }).click();
    await page.getByRole('button', { name: 'All times' }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('the calls of a filter, and a call as HAR, are saved as files', async () => {
    const { page, incidents } = await signedIn({}, 'calls?q=status:rejected');
    const saved = async (start: () => Promise<void>) => {
      const [download] = await Promise.all([page.waitForEvent('download'), start()]);
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
    };
    await page.goto(`${daemon.url}/#/calls?q=status:rejected`);
    await page.getByText('Export').click();
    const list = await saved(() =>
      page.getByRole('button', { name: 'Save the calls of this filter' }).click(),
    );
    expect(list.name).toBe('calls.jsonl');
    const models = list.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { model: string }).model);
    expect(models).toEqual(['sim/none']);
    await page.goto(`${daemon.url}/#/calls/${conversation}`);
    await page.getByText('Copy', { exact: true }).click();
    const har = await saved(() => page.getByRole('button', { name: 'Save as HAR' }).click());
    const { entries } = (JSON.parse(har.text) as { log: { entries: { _request_id: string }[] } }).log;
    expect(new Set(entries.map((entry) => entry._request_id))).toEqual(new Set([conversation]));
    expect(incidents).toEqual(noIncidents);
  });

  test('a request is shown as a conversation, as a tree and as it was sent; an answer is assembled', async () => {
    const { page } = await signedIn({}, `calls/${conversation}`);
    await openTab(page, conversation, 'request');
    await page.getByRole('article', { name: 'tool' }).getByText('Bridges.').waitFor();
    await expect
      .poll(() => page.getByRole('article', { name: 'assistant' }).innerText())
      .toContain('read_file');
    await page.getByRole('button', { name: 'tree', exact: true }).click();
    await page.getByText('messages:').waitFor();
    await page.getByRole('button', { name: 'raw', exact: true }).click();
    await page.getByText('"role":"tool"').waitFor();
    await openTab(page, conversation, 'answer');
    await page.getByRole('article', { name: 'assistant' }).waitFor();
  });

  test('Markdown is applied by choice, which stays; its links lead nowhere', async () => {
    const text = [
      '# Plan\n\nStart with the **outcome** and `npm ci`.\n\n1. First\n2. [Second](https://evil.example/)',
      '| a | b |\n|---|---|\n| 1 | <img src=x onerror=alert(1)> |',
      '```js\nrun()\n```\n\n![x](https://evil.example/x.png)\n\n<script>alert(1)</script>',
      `${'> '.repeat(200)}deep`,
    ].join('\n\n');
    const id = await ask('/v1/responses', { model: 'sim/echo', input: text });
    const { page, incidents } = await signedIn();
    await openTab(page, id, 'answer');
    await page.getByRole('button', { name: 'markdown' }).click();
    const formatted = page.locator('.markdown');
    await formatted.locator('strong', { hasText: 'outcome' }).waitFor();
    await expect.poll(() => formatted.getByRole('listitem').count()).toBe(2);
    await expect
      .poll(() => formatted.getByRole('cell').allInnerTexts())
      .toEqual(['1', '<img src=x onerror=alert(1)>']);
    await expect.poll(() => formatted.locator('a, img, script').count()).toBe(0);
    await formatted.getByText('https://evil.example/x.png').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('[');
    await page.getByRole('tab', { selected: true, name: 'Request' }).waitFor();
    await page.locator('.markdown strong').first().waitFor();
    await page.getByRole('button', { name: 'conversation' }).click();
    await page.getByText('**outcome**').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a call opens on its last turn and the answer, with links to the calls that it shares something with', async () => {
    const labels = {
      'x-service-conversation': 'chat-7',
      'x-service-user': 'ada',
      'x-service-tags': 'team=docs',
    };
    const said = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'First question?' },
    ];
    const more = [
      { role: 'assistant', content: 'First question?' },
      { role: 'user', content: 'And **now**?' },
    ];
    await ask('/v1/chat/completions', { model: 'sim/echo', messages: said }, labels);
    const id = await ask('/v1/chat/completions', { model: 'sim/echo', messages: [...said, ...more] }, labels);
    const { page, incidents } = await signedIn();
    await page.goto(`${daemon.url}/#/calls/${id}`);
    await page.getByRole('article', { name: 'user' }).locator('strong', { hasText: 'now' }).waitFor();
    await page.getByRole('region', { name: 'What was answered' }).getByText('now').waitFor();
    await expect.poll(() => page.getByText('First question?').count()).toBe(0);
    await page.getByText('2 messages before').click();
    await expect.poll(() => page.getByText('First question?').count()).toBe(2);
    await expect.poll(() => page.title()).toMatch(/^sim\/echo, \d\d:\d\d:\d\d · Gateway$/);
    for (const [label, query] of [
      ['ada', 'user:ada'],
      ['team=docs', 'tag:team=docs'],
      ['200', 'http:200'],
      ['/v1/chat/completions', 'endpoint:/v1/chat/completions'],
    ] as const)
      await expect
        .poll(async () =>
          new URLSearchParams(
            (await page.getByRole('link', { name: label, exact: true }).getAttribute('href'))?.split('?')[1],
          ).get('q'),
        )
        .toBe(query);
    await page.getByRole('link', { name: 'chat-7' }).click();
    await page.getByRole('heading', { name: 'Conversation' }).waitFor();
    // What the second call repeats is there once, and the answer of the first one as well.
    await expect.poll(() => page.getByText('First question?').count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto(`${daemon.url}/#/calls?q=status:rejected`);
    await page.getByRole('link', { name: 'sim/none' }).click();
    await page.locator('.refusal', { hasText: 'sim/none' }).waitFor();
    await page.getByRole('article', { name: 'error' }).getByText('sim/none').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('the list shows what was said, keeps its place, is sorted, and is counted without a text', async () => {
    const { page, incidents } = await signedIn();
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) refused.push(response.url());
    });
    const box = page.getByRole('region', { name: 'Calls' });
    await box.waitFor();
    await page.getByText('Hello 59. → Hello 59.').waitFor();
    await page.evaluate("document.querySelector('.table-box').scrollTop = 900");
    const link = page.locator('tr[aria-rowindex="40"]').getByRole('link');
    await link.scrollIntoViewIfNeeded();
    const placeOf = () => page.evaluate("document.querySelector('.table-box').scrollTop");
    const place = await placeOf();
    expect(place).toBeGreaterThan(300);
    for (const back of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
      await link.click();
      await page.getByRole('tab', { selected: true }).waitFor();
      await back();
      await expect.poll(placeOf).toBe(place);
    }
    await page.getByRole('button', { name: 'Total' }).click();
    await page
      .getByRole('columnheader', { name: 'Total' })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor();
    await expect.poll(() => page.url()).toContain('sort=total_ms');
    await page.getByLabel('Filter').fill('"Hello 7."');
    await page.keyboard.press('Enter');
    await page.getByText('Counted without').waitFor();
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('2');
    await page.getByRole('group', { name: 'Endpoint' }).waitFor();
    expect(refused).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(incidents).toEqual(noIncidents);
  });

  test('a call is compared with what others of its model usually take', async () => {
    const { page } = await signedIn();
    await openTab(page, conversation, 'timeline');
    const usual = page.getByRole('table', { name: /^Other calls of sim\/assistant/ });
    await usual.getByRole('row', { name: /^the first token .* ms .* ms/ }).waitFor();
  });

  test('a call whose content was not kept says so; the next one shows its own', async () => {
    const kept = await ask('/v1/responses', { model: 'sim/echo', input: 'Kept.' });
    const body = { model: 'sim/echo', input: 'Hi.' };
    const id = await ask('/v1/responses', body, { 'x-service-capture': 'off' });
    const { page } = await signedIn();
    await page.getByRole('table').waitFor();
    for (const [tab, shown] of [
      ['request', page.getByText('Kept.')],
      ['answer', page.getByText('Kept.')],
      ['headers', page.getByRole('table', { name: 'Headers of the request' })],
    ] as const) {
      await openTab(page, id, tab);
      await page.getByText('is not kept').waitFor();
      await page.keyboard.press('j');
      await shown.waitFor();
      await expect.poll(() => page.url()).toContain(kept);
      await expect.poll(() => page.getByText('is not kept').count()).toBe(0);
    }
  });

  test('the content of a call at the end of a flood says that only the first ones are kept', async () => {
    const body = JSON.stringify({ model: 'sim/echo', input: 'A flood.', temperature: 'hot' });
    const headers = { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' };
    const ids: string[] = [];
    for (let call = 0; call < 12; call += 1) {
      const answer = await fetch(`${daemon.url}/v1/responses`, { method: 'POST', body, headers });
      expect(answer.status).toBe(400);
      ids.push(answer.headers.get('x-request-id') ?? '');
    }
    // What was only counted is recorded when someone looks.
    await daemon.fetch('/v1/traces?limit=1', { headers: { authorization: `Bearer ${daemon.login}` } });
    const { page } = await signedIn();
    await openTab(page, ids.at(-1) ?? '', 'request');
    await page.getByText('of many calls that are rejected for one reason, it is that of the first').waitFor();
    await openTab(page, ids[0] ?? '', 'request');
    await page.getByText('A flood.').first().waitFor();
  });

  test('hostile texts are shown as they are, and nothing of them runs or is loaded', async () => {
    const { page, incidents } = await signedIn();
    const messagesOf = (text: string, at: number) => [
      { role: 'system', content: text },
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: text,
        tool_calls: [
          { id: `c${at}`, type: 'function', function: { name: 'f', arguments: JSON.stringify({ text }) } },
        ],
      },
      { role: 'tool', tool_call_id: `c${at}`, content: text },
    ];
    const all = await ask('/v1/chat/completions', {
      model: 'sim/echo',
      messages: hostileTexts.flatMap(messagesOf),
    });
    await openTab(page, all, 'request');
    // Long bodies are read as a whole when asked for.
    await page.getByRole('button', { name: 'Read all' }).click();
    await page.getByRole('button', { name: 'conversation', exact: true }).click();
    await page.getByText(/^Instructions, /).click();
    const shown = page.getByRole('article', { name: 'system' }).locator('.long-text');
    await expect.poll(() => shown.allTextContents()).toEqual(hostileTexts.map((text) => text.slice(0, 8000)));
    for (const text of hostileTexts) {
      const messages = messagesOf(text, 1);
      const id = await ask('/v1/chat/completions', { model: 'sim/echo', messages });
      await openTab(page, id, 'answer');
      await page.getByRole('article').first().waitFor();
    }
    const names = hostileTexts.filter((text) => text.length < 200);
    for (const text of names) await ask('/v1/responses', { model: text, input: text });
    await page.goto(`${daemon.url}/#/calls?q=status:rejected`);
    await page.getByRole('table').waitFor();
    expect(incidents).toEqual(noIncidents);
  });
});
