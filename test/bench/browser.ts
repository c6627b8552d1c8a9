/** Measures the dashboard in Chromium: its first paint, what it loads, and Live while calls come; docs/performance.md has results. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { wholeChromium } from '../support/page-in-chromium.ts';
import { openScreen } from '../support/web-screens.ts';
import { prepareHome } from './gateway-process.ts';
import { type Gateway, start } from './grown-data.ts';
import { cpuSeconds, stopProcess } from './processes.ts';
import { modelName, paths } from './wires.ts';
import { startProvider } from './workers.ts';

const usage = `npm run bench -- browser [options]     (after npm run build; needs Chromium)
  --rate N         calls a second (500)
  --seconds N      for how long they come, per round (60)
  --rounds N       how often Live is measured (1); between rounds its heap is compared
`;

const say = (line: string) => process.stdout.write(`${line}\n`);
const loads = 7;
const openMax = 100;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

type Chromium = Awaited<ReturnType<typeof launchBrowser>>;

/** The first contentful paint of the Overview in a tab that has cached nothing, in milliseconds. */
async function firstPaint(browser: Chromium, gateway: Gateway, slowdown: number): Promise<number> {
  const { page } = await openScreen(gateway, { browser });
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.goto(`${gateway.url}/#/overview`);
  let ms: number | undefined;
  // Playwright would look again in the page, whose policy forbids that.
  while (ms === undefined) {
    ms = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
    if (ms === undefined) await wait(20);
  }
  await page.context().close();
  return ms;
}

/** The requests for files and their compressed sizes until the Overview is drawn, and until all screens were. */
async function loadedFiles(browser: Chromium, gateway: Gateway) {
  const { page } = await openScreen(gateway, { browser });
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const files = new Map<string, number>();
  session.on('Network.responseReceived', ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    if (pathname === '/' || pathname.startsWith('/assets/')) files.set(requestId, 0);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) files.set(requestId, encodedDataLength);
  });
  const known = () => ({
    requests: files.size,
    kib: [...files.values()].reduce((sum, bytes) => sum + bytes, 0) / 1024,
  });
  await page.goto(`${gateway.url}/#/overview`);
  await page.locator('canvas').first().waitFor();
  const first = known();
  for (const link of await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').all()) {
    await link.click();
    await wait(500);
  }
  const all = known();
  await page.context().close();
  return { first, all };
}

interface FirstText {
  ms: number;
  tabMs: number;
  daemonMs: number;
}

const contentBytes = 2_000_000;
const opening = 'The first words of a long request.';

/** Makes a call whose prompt has so many messages, and returns its id. */
async function longCall({ url, login }: Gateway, messages: number): Promise<string> {
  const words = opening.toLowerCase().slice(0, -1).split(' ');
  const textOf = (message: number) => {
    let text = message === 0 ? opening : '';
    for (let at = message; text.length < contentBytes / messages; at += 1)
      text += ` ${words[(at * at) % words.length]} ${at}`;
    return text;
  };
  const answer = await fetch(url + paths.chat, {
    method: 'POST',
    headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `mock-chat/${modelName({ tokens: 50, delayMs: 0 })}`,
      messages: Array.from({ length: messages }, (_, index) => ({
        role: index % 2 === 0 ? 'user' : 'assistant',
        content: textOf(index),
      })),
    }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the answer was ${answer.status}: ${text}`);
  return answer.headers.get('x-request-id') ?? '';
}

const reportFirstText = `new MutationObserver((_, observer) => {
  if (!document.getElementById('tab-panel')?.textContent.includes(${JSON.stringify(opening)})) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => reportText(performance.now())));
}).observe(document, { childList: true, subtree: true, characterData: true })`;

/**
 * From the navigation to the page of a call in a tab that has cached nothing until the first text of its request, in milliseconds,
 * and the CPU time of the tab's main thread and of the daemon.
 */
async function firstText(browser: Chromium, gateway: Gateway, id: string): Promise<FirstText> {
  const { page } = await openScreen(gateway, { browser });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const { promise: reported, resolve: report } = Promise.withResolvers<number>();
  await page.exposeFunction('reportText', report);
  await page.addInitScript({ content: reportFirstText });
  const cpuBefore = cpuSeconds(gateway.child.pid);
  await page.goto(`${gateway.url}/#/calls/${id}?tab=request`);
  const ms = await reported;
  const tabMs = (await busySeconds(session)) * 1000;
  const daemonMs = (cpuSeconds(gateway.child.pid) - cpuBefore) * 1000;
  await page.context().close();
  return { ms, tabMs, daemonMs };
}

async function sayFirstText(browser: Chromium, gateway: Gateway, messages: number): Promise<void> {
  const id = await longCall(gateway, messages);
  const found: FirstText[] = [];
  for (let at = 0; at < loads; at += 1) found.push(await firstText(browser, gateway, id));
  const times = (of: keyof FirstText) => found.map((each) => each[of]);
  const middle = (of: keyof FirstText) => quantile(times(of), 0.5).toFixed(0);
  say(
    `first text of a request of 2 MB, in messages: ${messages}; ${middle('ms')} ms median of ${loads} (${Math.min(...times('ms')).toFixed(0)} to ${Math.max(...times('ms')).toFixed(0)}); ` +
      `CPU of the main thread ${middle('tabMs')} ms, of the daemon ${middle('daemonMs')} ms`,
  );
}

/** Sends calls at a steady rate until the signal is aborted; resolves to how many were answered. */
async function sendCalls({ url, login }: Gateway, rate: number, signal: AbortSignal): Promise<number> {
  const begun = performance.now();
  let sent = 0;
  let started = 0;
  let ended = 0;
  let answered = 0;
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${login}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim/echo', input: 'Hello!' }),
  };
  while (!signal.aborted) {
    for (const due = ((performance.now() - begun) / 1000) * rate; sent < due; sent += 1) {
      // A machine that is too busy for the rate gets fewer calls rather than ever more open ones.
      if (started - ended > openMax) continue;
      void fetch(`${url}/v1/responses`, init)
        .then((answer) => answer.arrayBuffer())
        .then(() => {
          answered += 1;
        })
        .catch(() => {})
        .finally(() => {
          ended += 1;
        });
      started += 1;
    }
    await wait(10);
  }
  return answered;
}

async function heapMib(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1024 / 1024;
}

/** CPU time of the tab's main thread, which other programs do not lengthen. */
async function busySeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
}

const recordFrames = `(() => {
  window.frameGaps = [];
  let before = performance.now();
  const next = (now) => { window.frameGaps.push(now - before); before = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
})()`;

/** How long frames of Live take while calls come. */
async function measureLive(page: Page, session: CDPSession, gateway: Gateway, rate: number, seconds: number) {
  await page.evaluate('window.frameGaps.length = 0');
  const busyBefore = await busySeconds(session);
  const ended = new AbortController();
  const sending = sendCalls(gateway, rate, ended.signal);
  await wait(seconds * 1000);
  const gaps = (await page.evaluate('window.frameGaps.slice()')) as number[];
  const busy = ((await busySeconds(session)) - busyBefore) / seconds;
  const nodes = await page.evaluate('document.querySelectorAll("*").length');
  ended.abort();
  const answered = await sending;
  say(
    `live: ${Math.round(answered / seconds)} calls/s; frames p50 ${quantile(gaps, 0.5).toFixed(0)} ms, p99 ${quantile(gaps, 0.99).toFixed(0)} ms, ` +
      `over 100 ms: ${gaps.filter((gap) => gap > 100).length} of ${gaps.length}; main thread ${(busy * 100).toFixed(0)} % of a core; heap ${(await heapMib(session)).toFixed(1)} MiB; ${nodes} elements`,
  );
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) say(usage);
else {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-browser-'));
  const provider = await startProvider(undefined);
  prepareHome(folder, provider.port);
  const gateway = await start(folder);
  // What users have.
  const browser = await launchBrowser({}, wholeChromium);
  try {
    for (const slowdown of [1, 4]) {
      const paints: number[] = [];
      for (let at = 0; at < loads; at += 1) paints.push(await firstPaint(browser, gateway, slowdown));
      say(
        `first contentful paint, CPU ${slowdown}× slower: ${quantile(paints, 0.5).toFixed(0)} ms median of ${loads} (${Math.min(...paints).toFixed(0)} to ${Math.max(...paints).toFixed(0)})`,
      );
    }
    const { first, all } = await loadedFiles(browser, gateway);
    say(
      `overview: ${first.requests} files, ${first.kib.toFixed(1)} KiB; all screens: ${all.kib.toFixed(1)} KiB`,
    );
    for (const messages of [1, 500]) await sayFirstText(browser, gateway, messages);
    const { page } = await openScreen(gateway, { browser });
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(`${gateway.url}/#/live`);
    await page.getByRole('table').waitFor();
    await page.evaluate(recordFrames);
    for (let round = 0; round < Number(values.rounds); round += 1)
      await measureLive(page, session, gateway, Number(values.rate), Number(values.seconds));
  } finally {
    await browser.close();
    await Promise.all([stopProcess(gateway.child), stopProcess(provider.process)]);
    rmSync(folder, { recursive: true, force: true });
  }
}
