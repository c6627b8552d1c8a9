import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { createLoginLink } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { dataFiles, foldersOf } from '../../shared/folders.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { isSentInClear, socketPathOf } from '../hosts/host-address.ts';
import { example } from '../options.ts';
import { folderOfBrowser, isBrowserElsewhere, openInBrowser } from '../terminal/browser.ts';

export const openCommand = (context: Context) =>
  new Command('open')
    .argument('[screen]', 'a screen, such as `calls`, or the id of a call')
    .option('--keep', 'stay signed in for 30 days without use, in place of 12 hours')
    .option('--print', 'print the address, which works once within a minute, and start no browser')
    .addHelpText('after', example('gateway open calls'))
    .action((screen, { keep = false, print = false }) => openDashboard(context, { screen, keep, print }));

interface OpenOptions {
  screen: string | undefined;
  keep: boolean;
  print: boolean;
}

async function openDashboard(context: Context, { screen, keep, print }: OpenOptions): Promise<void> {
  const { url } = context.host();
  requireBrowsable(url);
  const { path, expires_at } = await context.client().call(createLoginLink, { body: { keep } });
  const address = trimEnd(url, '/') + path + screenPath(screen);
  const mayStart = !print && context.out.isInteractive() && !isBrowserElsewhere(context);
  if (mayStart && (await openInBrowser(await redirectFile(context, address), context))) {
    context.out.note(
      `Opened the dashboard of ${url} in your browser. If no page appears: gateway open --print`,
    );
    return;
  }
  if (context.out.wantsJson()) return await context.out.document({ url: address, expires_at });
  context.out.note('Open this address within a minute. The first browser to open it is signed in:');
  context.out.text(`${address}\n`);
}

/** A login must not cross the network unencrypted, and a browser cannot open a socket. */
function requireBrowsable(url: string): void {
  const exit = exitCodes.failed;
  if (socketPathOf(url) !== undefined)
    throw new CliError('A browser cannot open a Unix socket.', {
      exit,
      next: 'Name the address of the host: gateway --host URL open',
    });
  if (!isSentInClear(url)) return;
  const port = new URL(url).port || '80';
  throw new CliError(
    `The dashboard does not sign in over plain HTTP, which others on the network can read: ${url}`,
    {
      exit,
      next: `Use an address with https, behind a proxy with TLS, or forward the port: ssh -L ${port}:127.0.0.1:${port} HOST`,
    },
  );
}

/** What follows the code: `/calls`, or a request on its own page. */
function screenPath(screen: string | undefined): string {
  if (screen === undefined) return '';
  return screen.startsWith('req_')
    ? `/calls/${encodeURIComponent(screen)}`
    : `/${encodeURIComponent(screen)}`;
}

/**
 * A file that leads to the address and only its owner can read: what a program is started with, every user of the machine can
 * see.
 */
async function redirectFile(context: Context, address: string): Promise<string> {
  const { data } = foldersOf(context);
  const own = await folderOfBrowser(context);
  const file =
    own === undefined ? join(data, dataFiles.redirect) : join(own, `gateway-${dataFiles.redirect}`);
  const partial = `${file}.${process.pid}`;
  const target = address.replace(/[&"<>]/g, (it) => `&#${it.charCodeAt(0)};`);
  const page = `<!doctype html><meta charset="utf-8"><title>Gateway</title><meta http-equiv="refresh" content="0;url=${target}"><a href="${target}">Open the dashboard</a>\n`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // The program whose folder it is may not choose what is written to.
  rmSync(partial, { force: true });
  writeFileSync(partial, page, { mode: 0o600, flag: 'wx' });
  renameSync(partial, file);
  return file;
}
