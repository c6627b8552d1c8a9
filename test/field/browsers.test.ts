import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folderOfBrowser, isBrowserElsewhere, openInBrowser } from '../../src/cli/terminal/browser.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryHome } from '../support/run-cli.ts';

let home: string;
let bin: string;

/** A program that writes down what it is started with. */
async function program(name: string, { exits = 0 } = {}): Promise<string> {
  const path = join(bin, name);
  await writeFile(path, `#!/bin/sh\nprintf '%s|' ${name} "$@" >> '${home}/started'\nexit ${exits}\n`);
  await chmod(path, 0o755);
  return path;
}

const started = () => readFile(join(home, 'started'), 'utf8').catch(() => '');

beforeEach(async () => {
  home = await temporaryHome();
  bin = join(home, 'my programs');
  await mkdir(bin);
});

const address = 'http://127.0.0.1:4100/#/calls';
const world = (env: Record<string, string>) => ({
  platform: 'linux' as const,
  home,
  env: { PATH: `${bin}:/usr/bin:/bin`, ...env },
  sleep: () => new Promise<void>(() => {}),
});

test.each([
  ['junegunn/fzf-git.sh#40: a program with arguments', 'firefox --new-window', 'firefox|--new-window|{}|'],
  ['xdg-open(1): the place of the address', `firefox --url="%s" -P 'my own'`, 'firefox|--url={}|-P|my own|'],
  ['several, the first of which is not there', 'nothere:firefox', 'firefox|{}|'],
  ['one that fails, then one that does not', 'broken:firefox', 'broken|{}|firefox|{}|'],
])('BROWSER has %s', async (_cite, browser, expected) => {
  await program('firefox');
  await program('broken', { exits: 3 });
  expect(await openInBrowser(address, world({ BROWSER: browser }))).toBe(true);
  expect(await started()).toBe(expected.replaceAll('{}', address));
});

test('a program whose path has a space is one program', async () => {
  const path = await program('Google Chrome');
  expect(await openInBrowser(address, world({ BROWSER: path }))).toBe(true);
  expect(await started()).toContain(`|${address}|`);
});

// cli/cli#826, render-oss/cli#13, microsoft/WSL#8892: it said that it had opened it.
test.each([
  ['nothing', {}],
  ['a program that is not there', { BROWSER: 'nothere' }],
  ['a program that finds no browser', { DISPLAY: ':0' }],
  ['nothing in quotation marks', { BROWSER: "''" }],
  ['half a quotation mark', { BROWSER: '"' }],
  ['a path below a file', { BROWSER: '/etc/passwd/firefox' }],
])('with %s, no browser is said to be open', async (_what, env) => {
  await program('xdg-open', { exits: 3 });
  expect(await openInBrowser(address, world(env as Record<string, string>))).toBe(false);
});

// wslutilities/wslu#210, cli/cli#6938, ddev/ddev#2623
test('the browser of WSL is that of Windows, also where there is a display', async () => {
  await program('wslview');
  await program('xdg-open');
  expect(await openInBrowser(address, world({ WSL_DISTRO_NAME: 'Ubuntu', DISPLAY: ':0' }))).toBe(true);
  expect(await started()).toBe(`wslview|${address}|`);
});

test('a browser that runs on is not waited for', async () => {
  await writeFile(join(bin, 'slow'), `#!/bin/sh\necho $$ >> '${home}/started'\nexec sleep 600\n`);
  await chmod(join(bin, 'slow'), 0o755);
  let pass = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const opening = openInBrowser(address, { ...world({ BROWSER: 'slow' }), sleep: () => passed });
  await eventually('it runs', async () => (await started()) !== '');
  pass();
  expect(await opening).toBe(true);
  process.kill(Number(await started()));
});

// jupyter/notebook#4500, jupyter/notebook#5479, RobotLocomotion/drake#24071, ContinuumIO/anaconda-issues#12891
test.each([
  ['firefox_firefox.desktop', 'snap/firefox/common'],
  ['chromium_chromium.desktop', '.snap/data/chromium/common'],
  ['firefox.desktop', undefined],
  ['org.mozilla.firefox.desktop', undefined],
  ['', undefined],
])('the default browser %s reads files in %s', async (desktop, folder) => {
  await writeFile(
    join(bin, 'xdg-settings'),
    `#!/bin/sh\n[ "$*" = "get default-web-browser" ] && echo ${desktop}\n`,
  );
  await chmod(join(bin, 'xdg-settings'), 0o755);
  for (const each of ['snap/firefox/common', '.snap/data/chromium/common'])
    await mkdir(join(home, each), { recursive: true });
  expect(await folderOfBrowser(world({}))).toBe(folder && join(home, folder));
});

test('a browser that BROWSER names is asked for its snap, too', async () => {
  await mkdir(join(home, 'snap/firefox/common'), { recursive: true });
  expect(await folderOfBrowser(world({ BROWSER: '/usr/bin/firefox --private-window' }))).toBe(
    join(home, 'snap/firefox/common'),
  );
  expect(await folderOfBrowser(world({ BROWSER: 'lynx' }))).toBeUndefined();
  await writeFile(join(bin, 'xdg-settings'), '#!/bin/sh\necho firefox_firefox.desktop\n', { mode: 0o755 });
  expect(await folderOfBrowser(world({ BROWSER: 'xdg-open' }))).toBe(join(home, 'snap/firefox/common'));
});

// microsoft/vscode-remote-release#3251
test.each([
  [{ BROWSER: '/vscode/vscode-server/bin/linux-x64/abc/bin/helpers/browser.sh' }, true],
  [{ CODESPACES: 'true' }, true],
  [{ BROWSER: 'firefox' }, false],
  [{}, false],
])('with %j, the browser is on another machine: %s', (env, isElsewhere) => {
  expect(isBrowserElsewhere({ env: env as Record<string, string> })).toBe(isElsewhere);
});
