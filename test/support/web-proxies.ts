import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** A reverse proxy in a process of its own. */
export interface WebProxy {
  /** `http://127.0.0.1:PORT` */
  url: string;
  stop(): Promise<void>;
}

export const hasNginx = spawnSync('nginx', ['-v']).error === undefined;
export const hasCaddy = spawnSync('caddy', ['version']).error === undefined;

/** The first block of code in that language of a guide. */
export function exampleIn(guide: string, language: string): string {
  const [, code] =
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readFileSync(guide, 'utf8')) ?? [];
  if (code === undefined) throw new Error(`${guide} has no example of ${language}`);
  return code;
}

/** nginx with the `http` part of a guide, on a free port of loopback and without TLS. */
export async function startNginx(site: string): Promise<WebProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-nginx-'));
  const port = await freePort();
  const here = site.replace(/listen 443 ssl;/, `listen 127.0.0.1:${port};`).replaceAll(/^ *ssl_.*\n/gm, '');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  // By default its workers run as the user `nobody`, who may not open the sockets.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const whole = `${user} pid ${folder}/pid; error_log stderr; daemon off; worker_processes 1;
events { worker_connections 4096; }
http { access_log off; ${temporary.join(' ')}\n${here}}`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, whole);
  const child = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  return await running(child, { folder, url: `http://127.0.0.1:${port}` });
}

/** Caddy with the Caddyfile of a guide, on a free port of loopback and without TLS. */
export async function startCaddy(caddyfile: string): Promise<WebProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-caddy-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n}\n${caddyfile.replace(/^gateway\.example\.org \{/m, `${url} {`)}`);
  const child = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  return await running(child, { folder, url });
}

async function running(child: ChildProcess, at: { folder: string; url: string }): Promise<WebProxy> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2000);
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill();
    await ended;
    await rm(at.folder, { recursive: true, force: true });
  };
  try {
    await eventually(`the proxy listens: ${said}`, async () => {
      if (child.exitCode !== null) throw new Error(`the proxy ended: ${said}`);
      return await fetch(at.url).then(
        (answer) => answer.text().then(() => true),
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: at.url, stop };
}
