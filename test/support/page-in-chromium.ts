import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const firstOf = (paths: string[]) => paths.find((path) => existsSync(path));

/** Chromium as distributions install it; undefined where there is none. */
export const wholeChromium = firstOf(programs);

/** The one without windows, if it is installed: it needs a third of the processor time for a page. */
export const chromium = firstOf(['/usr/bin/chromium-headless-shell', ...programs]);

interface PageOptions {
  /** Called by the script as `await call(...)`; its result is sent back as JSON. */
  call(argument: string): Promise<unknown>;
}

/**
 * Loads a page of an origin of its own in Chromium, and resolves to what its script returns. The script is the body of an async
 * function.
 */
export async function inPage(
  scriptFor: (origin: string) => string | Promise<string>,
  { call }: PageOptions,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let page = '';
  const server = createServer(async (request, response) => {
    if (request.url === '/call') return void response.end(JSON.stringify(await call(await bodyOf(request))));
    if (request.url === '/result') {
      resolve(JSON.parse(await bodyOf(request)));
      return void response.end();
    }
    response.setHeader('content-type', 'text/html');
    response.end(page);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  page = `<!doctype html><script type="module">
    const send = (path, body) => fetch(path, { method: 'POST', body }).then((answer) => answer.text());
    const call = async (argument) => JSON.parse(await send('/call', argument));
    const main = async () => { ${await scriptFor(origin)} };
    main().catch((error) => 'failed: ' + error).then((result) => send('/result', JSON.stringify(result)));
  </script>`;
  const folder = await mkdtemp(join(tmpdir(), 'gateway-chromium-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    `--user-data-dir=${folder}`,
  ];
  const browser = spawn(chromium ?? '', [...flags, `${origin}/`], { stdio: 'ignore', detached: true });
  const ended = new Promise((done) => browser.once('close', done));
  onTestFinished(async () => {
    // Its other processes are in the same group.
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL');
    await ended;
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const early = ended.then(() => Promise.reject(new Error('Chromium ended before the page did')));
  return await Promise.race([promise, early]);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  return text;
}
