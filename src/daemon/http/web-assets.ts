import { readFile } from 'node:fs/promises';
import { RelayReply } from '../base/handler.ts';
import { acceptedEncoding } from './compression.ts';

/** Where the build put the files of the dashboard, for the built daemon and for its sources. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/web/' : './web/', import.meta.url);

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The encodings in which each file lies beside itself, best first, with the ends of their names. */
const encodings: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

/**
 * What the page may do: run its own scripts, which can make no markup from text, and call this daemon. Browsers without
 * Trusted Types ignore the last two directives.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const common = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/** The dashboard: its page and the files that it loads. Nothing is read before the first request for it. */
export const webApp = {
  /** `command` is how its commands are typed: `gateway` or `npx gateway`. */
  async page(command: string): Promise<RelayReply | undefined> {
    const file = await contentOf('index.html');
    if (file === undefined) return undefined;
    const body = Buffer.from(file.toString().replaceAll('{command}', command));
    const headers = {
      ...common,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    };
    return new RelayReply(headers, body);
  },

  async asset(name: string, acceptEncoding: string | string[] | undefined): Promise<RelayReply | undefined> {
    const type = types[/^[\w-]+\.(\w+)$/.exec(name)?.[1] ?? ''];
    if (type === undefined) return undefined;
    const encoding = acceptedEncoding(acceptEncoding, Object.keys(encodings));
    const body = await contentOf(name + (encoding === undefined ? '' : encodings[encoding]));
    if (body === undefined) return undefined;
    const headers = {
      ...common,
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    };
    return new RelayReply(headers, body);
  },
};

async function contentOf(name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(new URL(name, folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
