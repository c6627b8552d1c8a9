import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults, noIncidents, openPage } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

/** The page of the dashboard and its files, as `npm run build` has written them. */

let daemon: RunningDaemon;
let page: Response;
let text: string;
let files: string[];

beforeAll(async () => {
  daemon = await startDaemon();
  page = await fetch(`${daemon.url}/`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  text = await page.text();
  files = [...text.matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(([, path]) => path as string);
});

afterAll(async () => {
  await daemon.stop();
});

const fileOf = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${daemon.url}/${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });

test('a browser gets a small page, a client that asks for no HTML the start page as before', async () => {
  expect(text.length).toBeLessThan(3 * 1024);
  expect(text).toContain('gateway keys default');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const plain = await fetch(`${daemon.url}/`, { headers: { accept: '*/*' } });
  expect(await plain.text()).toContain('<pre><code>gateway keys default');
  expect(plain.headers.get('content-security-policy')).not.toContain('script-src');
});

test('its policy allows scripts and styles of the daemon alone, and no markup from text', () => {
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' blob:",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ]);
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(text).not.toMatch(/<style|style=|<script>|\son\w+=/);
});

test('files may be kept for ever, are typed, and are sent compressed as the client accepts', async () => {
  expect(files.length).toBeGreaterThanOrEqual(3);
  for (const path of files) {
    const [plain, br, gzip] = await Promise.all([
      fileOf(path),
      fileOf(path, { 'accept-encoding': 'gzip, br' }),
      fileOf(path, { 'accept-encoding': 'gzip' }),
    ]);
    const type = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
    };
    expect(plain.headers.get('content-type')).toBe(type[path.split('.').at(-1) as keyof typeof type]);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect([br, gzip].map(({ headers }) => headers.get('content-encoding'))).toEqual(['br', 'gzip']);
    const content = await plain.text();
    expect([await br.text(), await gzip.text()]).toEqual([content, content]);
  }
});

test('what the first screen loads is small', async () => {
  const contents = await Promise.all(files.map(async (path) => await (await fileOf(path)).bytes()));
  const scripts = (await readFile(new URL('../../../dist/web/index.html', import.meta.url), 'utf8')).length;
  const total = contents.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, scripts);
  expect(total).toBeLessThan(70 * 1024);
});

test('all files together are small', async () => {
  const folder = new URL('../../../dist/web/', import.meta.url);
  const scripts = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const sizes = await Promise.all(
    scripts.map(async (name) => gzipSync(await readFile(new URL(name, folder)), { level: 9 }).length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(170 * 1024);
});

test('no other file can be named', async () => {
  const names = [
    'index.html',
    '../index.html',
    '..%2Findex.html',
    '%2e%2e%2fcli.js',
    'none.js',
    'style',
    '.',
  ];
  for (const name of [...names, `${files[0]?.slice(7)}.br`, 'a\0.js'.replace('\0', '%00')]) {
    const answer = await fileOf(`assets/${name}`);
    expect(answer.status, name).toBe(404);
  }
});

test('a link from another site or a local file leads to the page, a frame does not', async () => {
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect(await statusOf(link)).toBe(200);
  expect(await statusOf({ ...link, 'sec-fetch-dest': 'iframe' })).toBe(403);
});

/** Of the page, asked for with headers that `fetch` would replace. */
function statusOf(headers: Record<string, string>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  get(`${daemon.url}/`, { headers: { ...headers, accept: 'text/html' } }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(answer.statusCode));
  }).on('error', reject);
  return promise;
}

describe.skipIf(chromium === undefined)('in Chromium (skipped where it is not installed)', () => {
  test('a pasted key signs in for this tab, and a reload keeps it; signing out forgets it', async () => {
    const { page, incidents } = await openPage(daemon.url);
    await page.goto(`${daemon.url}/`);
    await page.getByLabel(/API key or a login code/).fill('sk-wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel(/API key or a login code/).fill(daemon.login);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const kept = () => page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]');
    await expect.poll(kept).toEqual([1, 0, '']);
    await page.getByRole('button', { name: /Sign out/ }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await expect.poll(() => page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
    expect(incidents).toEqual(noIncidents);
  });

  test.each(['light', 'dark'] as const)('signing in has no fault that axe finds: %s', async (colorScheme) => {
    const { page, incidents } = await openPage(daemon.url, { colorScheme });
    await page.goto(`${daemon.url}/`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(incidents).toEqual(noIncidents);
  });
});
