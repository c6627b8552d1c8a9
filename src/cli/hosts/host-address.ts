import { exitCodes } from '../../shared/errors.ts';
import { isLoopback } from '../../shared/loopback.ts';
import { CliError } from '../failures/cli-error.ts';

/** `127.0.0.1:4100`, `gateway.example.org`, `unix:/PATH` or a whole URL; a name without a scheme is spoken to over TLS unless it is this machine. */
export function hostUrl(name: string): string {
  const wrong = new CliError(`"${name}" is not the address of a host.`, {
    exit: exitCodes.usage,
    next: 'Write it like http://127.0.0.1:4100, https://gateway.example.org or unix:/run/gateway.sock',
  });
  const path = socketPathOf(name);
  if (path !== undefined) return socketAddress(path);
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
  const url = URL.parse(hasScheme ? name : `http://${name}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) throw wrong;
  if (!hasScheme && !isLoopback(url.hostname)) url.protocol = 'https:';
  return url.href.replace(/\/+$/, '');
}

/** Whether a key sent to this address could be read on the way. */
export function isSentInClear(url: string): boolean {
  const parsed = new URL(url);
  return parsed.protocol === 'http:' && !isLoopback(parsed.hostname);
}

/** Whether an address leads to the machine that it is used on. */
export function isLoopbackUrl(url: string): boolean {
  return socketPathOf(url) !== undefined || isLoopback(new URL(url).hostname);
}

/** Whether two addresses differ in nothing but what they call the loopback: `localhost` or `127.0.0.1`. */
export function isOtherName(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  const names = new Set([a?.hostname, b?.hostname]);
  const isSameMachine = names.size === 2 && names.has('localhost') && names.has('127.0.0.1');
  return isSameMachine && a?.protocol === b?.protocol && a?.port === b?.port;
}

/** The path that `unix:/run/gateway.sock` or `unix:///run/gateway.sock` names; undefined for any other address. */
export function socketPathOf(address: string): string | undefined {
  return /^unix:(?:\/\/)?(\/[^/].*)$/i.exec(address)?.[1];
}

/** The address of a Unix socket, as it is kept and shown. */
export function socketAddress(path: string): string {
  return `unix:${path}`;
}

/** A login code and where it is good, in one line that can be pasted: `https://gateway.example.org/login#7K3QM-9XWZ2`. */
export function loginLink(url: string, code: string): string {
  return `${url.replace(/\/+$/, '')}/login#${code}`;
}

/** Takes a link apart; what is none is a code alone. */
export function readLoginLink(text: string): { url: string | undefined; code: string } {
  // What stands behind # is sent to no server by whoever opens the link in a browser.
  const [, url, code] = /^((?:https?:\/\/|unix:\/)[^#\s]+?)\/login#([\w-]+)$/i.exec(text) ?? [];
  return url === undefined || code === undefined ? { url: undefined, code: text } : { url, code };
}
