import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { openScreen } from '../../support/web-screens.ts';

/** Figures as links, as `npm run build` has written the pages: each leads to just the calls that it tells of. */

interface Figure {
  href: string;
  /** The calls that it says it tells of. */
  calls: number;
  /** As it is shown, and what it is. */
  name: string;
}

describe.skipIf(chromium === undefined)('figures of calls (skipped without Chromium)', () => {
  let provider: RunningDaemon;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    provider = await startDaemon();
    daemon = await startDaemon({
      config: `upstreams:\n  - {name: dear, base_url: "${provider.url}/v1", key_env: PROVIDER_KEY, wire: chat, models: ["*"], prices: {input: "30", output: "60"}}\n`,
      env: { PROVIDER_KEY: provider.key },
    });
    const labels: object[] = [
      { user: 'ann', tags: { team: 'search' } },
      { user: 'ann "the *" lee', tags: { team: 'a*b', note: 'x: "y" \\z' } },
      { user: 'ann "the 1" lee', tags: { team: 'a1b' } },
      { user: '=1+1', tags: { team: 'Straße: 東京' } },
      {},
    ];
    for (const service of labels) await call({ model: 'dear/sim/echo', service });
    const clients = ['', 'my-app', 'my-app/1.0', 'my-app/2.0', 'other-app/1'];
    for (const client of clients) await call({ model: 'sim/assistant' }, { 'user-agent': client });
    // More models than a chart has colours.
    for (const model of ['assistant', 'refuses', 'filtered', 'slow', 'flaky', 'limited', 'broken', 'broken'])
      await call({ model: `dear/sim/${model}`, service: { user: 'bob' } });
    for (let times = 0; times < 2; times += 1)
      await call({ model: 'dear/sim/echo', service: { cache: 'read-write' } });
    await cancelOne();
    for (const model of ['nothing/here', 'no*thing', 'nothing']) await call({ model, service: labels[1] });
    await call({});
    await call({ model: 'sim/echo' }, { authorization: 'Bearer gwk_unknown' });
    await call({ model: 'sim/echo' }, { authorization: `Bearer ${daemon.login}` });
    await otherWorkspace();
  });

  afterAll(async () => {
    await daemon?.stop();
    await provider?.stop();
  });

  async function call(body: object, headers: Record<string, string> = {}): Promise<void> {
    const answer = await daemon.fetch('/v1/responses', { json: { input: 'Hello!', ...body }, headers });
    await answer.text();
  }

  /** A call that the client leaves. */
  async function cancelOne(): Promise<void> {
    const stopped = new AbortController();
    const answer = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/slow', input: 'Hello!', stream: true },
      signal: stopped.signal,
    });
    await answer.body?.getReader().read();
    stopped.abort();
    await eventually('the call is canceled', async () => {
      const found = await daemon.fetch('/v1/traces?status=canceled', { headers: owner() });
      return ((await found.json()) as { data: unknown[] }).data.length === 1;
    });
  }

  /** Its calls are in no figure of the first workspace. */
  async function otherWorkspace(): Promise<void> {
    const made = await daemon.fetch('/v1/workspaces', { json: { name: 'Lab' }, headers: owner() });
    const { id } = (await made.json()) as { id: string };
    const issued = await daemon.fetch(`/v1/workspaces/${id}/keys`, {
      json: { name: 'lab' },
      headers: owner(),
    });
    const { secret } = (await issued.json()) as { secret: string };
    await call({ model: 'sim/assistant' }, { authorization: `Bearer ${secret}`, 'user-agent': 'my-app/1.0' });
  }

  const owner = () => ({ authorization: `Bearer ${daemon.login}` });

  /** Opens a screen, with the numbers of its charts. */
  async function show(page: Page, address: string): Promise<void> {
    await page.goto(`${daemon.url}/#${address}`);
    await page.locator('a[href^="#/calls?"]').first().waitFor();
    await page.locator('.loading, .is-stale, [aria-busy="true"]').first().waitFor({ state: 'detached' });
    for (const numbers of await page.locator('details.numbers > summary').all()) await numbers.click();
  }

  /** The links of a screen to calls, by what they say. */
  async function figuresOf(page: Page): Promise<Figure[]> {
    const links = await page.locator('main a[href^="#/calls?"], .totals a, .figures a').all();
    return await Promise.all(
      links.map(async (link) => {
        const name = (await link.getAttribute('aria-label')) ?? '';
        const [, calls] = /, (\d[\d,]*) calls?$/.exec(name) ?? /^(\d[\d,]*) /.exec(name) ?? [];
        return {
          href: (await link.getAttribute('href')) ?? '',
          calls: Number(calls?.replaceAll(',', '')),
          name,
        };
      }),
    );
  }

  /** How many calls the screen of calls shows for an address. */
  async function callsAt(page: Page, href: string): Promise<number> {
    const q = new URLSearchParams(href.split('?')[1]).get('q') ?? '';
    const isCounted = (url: string) =>
      url.includes('/v1/traces/facets') && new URL(url).searchParams.get('q') === q;
    await Promise.all([
      page.waitForResponse((response) => isCounted(response.url()) && response.ok()),
      page.goto(`${daemon.url}/${href}`),
    ]);
    await page.locator('.facets > .stale').waitFor({ state: 'detached' });
    const summary = page.locator('.facets > summary');
    await expect.poll(() => summary.innerText()).toMatch(/: [\d,]+ calls?$/);
    return Number(/([\d,]+) calls?$/.exec(await summary.innerText())?.[1]?.replaceAll(',', ''));
  }

  /** What that screen asks for. */
  async function countedCalls(q: string): Promise<number> {
    const path = `/v1/traces/facets?${new URLSearchParams({ q })}`;
    return ((await (await daemon.fetch(path, { headers: owner() })).json()) as { calls: number }).calls;
  }

  const screens = [
    '/overview?range=1h&by=cost',
    '/overview?range=24h&by=calls&failures=status',
    '/usage?range=24h',
    '/usage?range=7d&rows=time',
    ...['key', 'provider', 'status', 'client', 'user', 'tag', 'error'].map(
      (by) => `/usage?range=24h&by=${by}`,
    ),
    '/usage?range=24h&by=model&and=status',
    '/usage?range=24h&by=key&and=status',
    '/usage?range=24h&model=dear%2Fsim%2Fecho&by=key',
    '/usage?range=24h&status=failed',
  ];

  test('lead to as many calls as they say', async () => {
    const { page, incidents } = await openScreen(daemon);
    const known = new Map<string, number>();
    /** Queries without plain words and times: the screen of calls is opened with one of each. */
    const forms = new Set<string>();
    const kinds = new Set<string>();
    for (const address of screens) {
      await show(page, address);
      const figures = await figuresOf(page);
      expect(figures.length, address).toBeGreaterThan(3);
      for (const { href, calls, name } of figures) {
        const q = new URLSearchParams(href.split('?')[1]).get('q') ?? '';
        const form = q.replaceAll(/(?<=\w:=?)[\w./:+-]+/g, '');
        if (!known.has(q)) known.set(q, await (forms.has(form) ? countedCalls(q) : callsAt(page, href)));
        forms.add(form);
        expect.soft(known.get(q), `${address}: ${name} → ${q}`).toBe(calls);
        for (const [kind] of q.matchAll(/-?\w+:=?\*?/g)) kinds.add(kind);
      }
    }
    // Groups without a value, all other groups, and texts that would be patterns.
    for (const kind of [
      '-model:*',
      '-user:*',
      '-client:*',
      '-key:*',
      '-provider:*',
      '-error:*',
      '-model:',
      'tag:=',
      'client:=',
    ])
      expect.soft([...kinds], kind).toContain(kind);
    expect(incidents).toEqual(noIncidents);
  });

  test('are links unless they are zero', async () => {
    const { page } = await openScreen(daemon);
    await show(page, '/usage?range=24h');
    const cells = await page.getByRole('region', { name: 'Rows' }).locator('td.number').all();
    expect(cells.length).toBeGreaterThan(40);
    for (const cell of cells) {
      const text = (await cell.innerText()).trim();
      expect.soft(await cell.getByRole('link').count(), text).toBe(/^\$?0$/.test(text) ? 0 : 1);
    }
  });

  test('and the parts of a bar lead to their calls, also in another tab', async () => {
    const { page } = await openScreen(daemon);
    await show(page, '/usage?range=24h&show=calls');
    const link = page.locator('.chart-link');
    // In the last bucket, which is at the right edge.
    const inBar = async (fromEdge = 9) => {
      const { width = 0, height = 0 } = (await link.boundingBox()) ?? {};
      return { x: width - fromEdge, y: height - 5 };
    };
    await expect
      .poll(async () => {
        // A chart that was drawn anew learns of the pointer when it moves.
        await link.hover({ position: await inBar(11) });
        await link.hover({ position: await inBar() });
        return (await link.getAttribute('href')) ?? '';
      })
      .toMatch(/^#\/calls\?q=/);
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ button: 'middle', position: await inBar() }),
    ]);
    await expect.poll(() => new URL(tab.url()).hash).toMatch(/^#\/calls\?q=/);
    await tab.close();
    await link.click({ position: await inBar() });
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
  });
});
