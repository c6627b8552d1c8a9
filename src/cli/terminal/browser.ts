import { spawn } from 'node:child_process';

interface Environment {
  platform: string;
  env: Record<string, string | undefined>;
}

/** Opens an address or a file in the browser without waiting for it; false if there is no browser. */
export function openInBrowser(address: string, environment: Environment): boolean {
  const [program, ...words] = browserCommand(address, environment) ?? [];
  if (program === undefined) return false;
  const child = spawn(program, words, { stdio: 'ignore', detached: true });
  // A missing program is not fatal: the address is also on the screen.
  child.on('error', () => {});
  child.unref();
  return true;
}

function browserCommand(address: string, { platform, env }: Environment): string[] | undefined {
  if (env.BROWSER) return [env.BROWSER, address];
  if (platform === 'darwin') return ['open', address];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', address] : undefined;
}
