import { spawn } from 'node:child_process';

interface Place {
  platform: string;
  env: Record<string, string | undefined>;
}

/** The program that opens an address, with its arguments; undefined where nobody would see a browser. */
export function browserCommand(address: string, { platform, env }: Place): string[] | undefined {
  if (env.BROWSER) return [env.BROWSER, address];
  if (platform === 'darwin') return ['open', address];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', address] : undefined;
}

/** Opens an address in the browser and does not wait for it; false where there is none. */
export function openInBrowser(address: string, place: Place): boolean {
  const [program, ...words] = browserCommand(address, place) ?? [];
  if (program === undefined) return false;
  const child = spawn(program, words, { stdio: 'ignore', detached: true });
  // One that is not installed is no reason to end: the address was told.
  child.on('error', () => {});
  child.unref();
  return true;
}
