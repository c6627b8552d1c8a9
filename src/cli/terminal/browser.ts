import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Context } from '../context.ts';

type Environment = Pick<Context, 'platform' | 'env' | 'home' | 'sleep'>;

/** A program that opens a browser has failed by then, if it does. */
const startMs = 1_000;

/** Opens an address or a file in a browser; false if none could be started. */
export async function openInBrowser(address: string, environment: Environment): Promise<boolean> {
  for (const command of commands(address, environment)) {
    if (await starts(command, environment)) return true;
  }
  return false;
}

/** Whether a program runs on, or ends well. */
async function starts([program = '', ...words]: string[], { env, sleep }: Environment): Promise<boolean> {
  if (program === '') return false;
  let child: ChildProcess;
  try {
    child = spawn(program, words, { stdio: 'ignore', detached: true, env });
  } catch {
    // Below a path that is a file, for example.
    return false;
  }
  child.unref();
  const over = new AbortController();
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
  const late = sleep(startMs, over.signal).then(
    () => true,
    () => true,
  );
  const hasStarted = await Promise.race([ended, late]);
  over.abort();
  return hasStarted;
}

function* commands(address: string, { platform, env }: Environment): Generator<string[]> {
  for (const named of browsersIn(env.BROWSER ?? '')) {
    const words = wordsOf(named);
    if (words.length === 0) continue;
    yield words.some((word) => word.includes('%s'))
      ? words.map((word) => word.replaceAll('%s', address))
      : [...words, address];
  }
  if (platform === 'darwin') yield ['open', address];
  else if (platform === 'win32') yield ['rundll32', 'url.dll,FileProtocolHandler', address];
  else {
    // Of WSL: the browser is that of Windows.
    if (env.WSL_DISTRO_NAME) yield ['wslview', address];
    if (env.DISPLAY || env.WAYLAND_DISPLAY) yield ['xdg-open', address];
  }
}

/** Several are separated by colons. Source: xdg-open(1). */
function browsersIn(browser: string): string[] {
  if (browser === '' || existsSync(browser)) return browser === '' ? [] : [browser];
  return browser.split(':').filter((each) => each.trim() !== '');
}

/** A program whose path has spaces is one word if it is there. */
function wordsOf(command: string): string[] {
  if (existsSync(command)) return [command];
  const words = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/**
 * Whether the browser is on another machine, which can read no file of this one, as in a terminal of VS Code that is connected
 * to this machine or in a container. Source: microsoft/vscode-remote-release#3251.
 */
export function isBrowserElsewhere({ env }: Pick<Environment, 'env'>): boolean {
  return /[/\\]browser\.sh$/.test(env.BROWSER ?? '') || env.CODESPACES === 'true';
}

/**
 * The folder in which a browser can read files that cannot read hidden ones, as Ubuntu's cannot: a snap reads its own. Undefined for
 * other browsers. Source: jupyter/notebook#5479, jupyter/notebook#4500.
 */
export async function folderOfBrowser(environment: Environment): Promise<string | undefined> {
  const { platform, env, home } = environment;
  if (platform !== 'linux') return undefined;
  const named = browsersIn(env.BROWSER ?? '').map((each) => basename(wordsOf(each)[0] ?? ''));
  return [...named, snapIn(await defaultBrowser(environment))]
    .filter((name) => name)
    .flatMap((snap) => [`${home}/snap/${snap}/common`, `${home}/.snap/data/${snap}/common`])
    .find((each) => existsSync(each));
}

/** `firefox` in `firefox_firefox.desktop`. */
function snapIn(desktopFile: string): string | undefined {
  return /^([a-z0-9-]+)_\1\.desktop\s*$/.exec(desktopFile)?.[1];
}

/** Empty where it cannot be told. */
function defaultBrowser({ env }: Environment): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, timeout: 2_000 };
    execFile('xdg-settings', ['get', 'default-web-browser'], options, (_error, stdout) => resolve(stdout));
  });
}
