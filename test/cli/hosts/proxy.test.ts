import { expect, test } from 'vitest';
import { CliError } from '../../../src/cli/failures/cli-error.ts';
import { proxyEnvironment } from '../../../src/cli/hosts/send.ts';

const proxy = 'http://proxy.test:3128';
const told = (url: string, env: Record<string, string>) => proxyEnvironment(new URL(url), env);

test('Node is told of the proxies, also of those that hold for all', () => {
  const both = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: '' };
  expect(told('https://gateway.test', { ALL_PROXY: proxy })).toEqual(both);
  expect(told('https://gateway.test', { http_proxy: proxy })).toEqual(both);
});

test.each([
  ['http://127.0.0.1:4100', {}],
  ['https://gateway.test', { NO_PROXY: '*' }],
  ['https://gateway.test', { NO_PROXY: 'other.example, .TEST' }],
  ['https://gateway.test', { no_proxy: 'gateway.test' }],
])('there is none on the way to %s with %j', (url, more) => {
  expect(told(url, { HTTPS_PROXY: proxy, ...more })).toBeUndefined();
});

test('a name that only ends alike is called through the proxy', () => {
  expect(told('https://mygateway.test', { HTTPS_PROXY: proxy, NO_PROXY: 'gateway.test' })).toBeDefined();
});

test.each([
  [{ ALL_PROXY: 'socks5://proxy.test' }, /cannot go through a SOCKS proxy/],
  [{ https_proxy: 'ftp://me:secret@proxy.test' }, /^https_proxy: expected a proxy address/],
])('what Node would go past in silence is refused: %j', (env, message) => {
  const call = () => told('https://gateway.test', env as Record<string, string>);
  expect(call).toThrow(CliError);
  expect(call).toThrow(message);
  expect(call).not.toThrow(/secret/);
});

test('a SOCKS proxy is in nobody’s way where NO_PROXY names the host', () => {
  expect(told('https://gateway.test', { ALL_PROXY: 'socks5://p', NO_PROXY: 'gateway.test' })).toBeUndefined();
});
