import { expect, test } from 'vitest';
import { CliError } from '../../../src/cli/failures/cli-error.ts';
import { proxyEnvironment } from '../../../src/cli/hosts/send.ts';

const proxy = 'http://proxy.test:3128';
const environmentFor = (url: string, env: Record<string, string>) => proxyEnvironment(new URL(url), env);

test('Node gets all proxies, including ALL_PROXY', () => {
  const both = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: '' };
  expect(environmentFor('https://gateway.test', { ALL_PROXY: proxy })).toEqual(both);
  expect(environmentFor('https://gateway.test', { http_proxy: proxy })).toEqual(both);
});

test.each([
  ['http://127.0.0.1:4100', {}],
  ['https://gateway.test', { NO_PROXY: '*' }],
  ['https://gateway.test', { NO_PROXY: 'other.example, .TEST' }],
  ['https://gateway.test', { no_proxy: 'gateway.test' }],
])('no proxy is used for %s with %j', (url, more) => {
  expect(environmentFor(url, { HTTPS_PROXY: proxy, ...more })).toBeUndefined();
});

test('a host name with only the same ending is called through the proxy', () => {
  expect(
    environmentFor('https://mygateway.test', { HTTPS_PROXY: proxy, NO_PROXY: 'gateway.test' }),
  ).toBeDefined();
});

test.each([
  [{ ALL_PROXY: 'socks5://proxy.test' }, /cannot go through a SOCKS proxy/],
  [{ https_proxy: 'ftp://me:secret@proxy.test' }, /^https_proxy: expected a proxy address/],
])('a proxy that Node would silently bypass is refused: %j', (env, message) => {
  const call = () => environmentFor('https://gateway.test', env as Record<string, string>);
  expect(call).toThrow(CliError);
  expect(call).toThrow(message);
  expect(call).not.toThrow(/secret/);
});

test('a SOCKS proxy does not matter if NO_PROXY lists the host', () => {
  expect(
    environmentFor('https://gateway.test', { ALL_PROXY: 'socks5://p', NO_PROXY: 'gateway.test' }),
  ).toBeUndefined();
});
