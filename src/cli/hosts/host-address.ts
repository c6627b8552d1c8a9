import { isLoopback } from '../../shared/http/loopback.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
import { usageError } from '../failures/cli-error.ts';

/**
 * The URL for `127.0.0.1:4100`, `gateway.example.org`, `unix:/PATH` or a whole URL. Without a scheme it is `https:`,
 * except on this machine. SDKs are given an address with `/v1`, which commands add themselves.
 */
export function hostUrl(name: string): string {
  const invalid = usageError(
    `"${name}" is not a valid host address.`,
    'Use an address like http://127.0.0.1:4100, https://gateway.example.org or unix:/run/gateway.sock.',
  );
  const path = socketPathOf(name);
  if (path !== undefined) return socketAddress(path);
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
  const url = URL.parse(hasScheme ? name : `http://${name}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) throw invalid;
  if (!hasScheme && !isLoopback(url.hostname)) url.protocol = 'https:';
  return trimEnd(trimEnd(url.href, '/').replace(/\/v1$/, ''), '/');
}

/** Whether a key sent to this address is unencrypted on the network. */
export function isSentInClear(url: string): boolean {
  const parsed = new URL(url);
  return parsed.protocol === 'http:' && !isLoopback(parsed.hostname);
}

/** Whether an address leads to this machine. */
export function isLoopbackUrl(url: string): boolean {
  return socketPathOf(url) !== undefined || isLoopback(new URL(url).hostname);
}

/** Whether two addresses differ only in the name of the loopback, `localhost` or `127.0.0.1`. */
export function differsInLoopbackName(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  const names = new Set([a?.hostname, b?.hostname]);
  const isSameMachine = names.size === 2 && names.has('localhost') && names.has('127.0.0.1');
  return isSameMachine && a?.protocol === b?.protocol && a?.port === b?.port;
}

/** The path in `unix:/run/gateway.sock` or `unix:///run/gateway.sock`; undefined for any other address. */
export function socketPathOf(address: string): string | undefined {
  return /^unix:(?:\/\/)?(\/[^/].*)$/i.exec(address)?.[1];
}

/** The address of a Unix socket, as stored and shown. */
export function socketAddress(path: string): string {
  return `unix:${path}`;
}

/** A login code and its host in one line to paste: `https://gateway.example.org/login#7K3QM-9XWZ2`. */
export function loginLink(url: string, code: string): string {
  return `${trimEnd(url, '/')}/login#${code}`;
}

/** Splits a link into host and code; any other text is a code. */
export function readLoginLink(text: string): { url: string | undefined; code: string } {
  // Browsers do not send what follows # to the server.
  const [, url, code] = /^((?:https?:\/\/|unix:\/)[^#\s]+?)\/login#([\w-]+)$/i.exec(text) ?? [];
  return url === undefined || code === undefined ? { url: undefined, code: text } : { url, code };
}
