import { expect, test } from 'vitest';
import { bypassOf } from '../../../src/shared/http/no-proxy.ts';

const isDirect = (except: string, url: string) => {
  const { hostname, port, protocol } = new URL(url);
  return bypassOf(except)({ hostname, port: port || (protocol === 'https:' ? '443' : '80') });
};

test.each([
  ['*', 'https://api.example.com'],
  ['example.com', 'https://example.com'],
  ['example.com', 'https://api.example.com'],
  ['.example.com', 'https://api.example.com'],
  ['*.example.com', 'https://api.example.com'],
  ['other.test, EXAMPLE.com', 'https://API.example.COM'],
  ['a.test b.test', 'http://b.test'],
  ['example.com:8443', 'https://example.com:8443'],
  ['example.com:443', 'https://example.com'],
  ['example.com', 'https://example.com.'],
  ['10.0.0.7', 'http://10.0.0.7:11434'],
  ['10.0.0.7:11434', 'http://10.0.0.7:11434'],
  ['10.0.0.0/8', 'http://10.200.3.4'],
  ['192.168.0.0/16,10.0.0.0/8', 'http://192.168.7.7'],
  ['10.*', 'http://10.200.3.4'],
  ['10.1.*.4', 'http://10.1.3.4'],
  ['*.corp.*', 'https://a.corp.example'],
  ['fd00::/8', 'http://[fd12::7]:8000'],
  ['fd12::7', 'http://[fd12::7]'],
  ['[fd12::7]:8000', 'http://[fd12::7]:8000'],
  ['::1', 'http://[::1]'],
])('NO_PROXY=%s: %s is called directly', (except, url) => {
  expect(isDirect(except, url)).toBe(true);
});

test.each([
  ['', 'https://example.com'],
  ['example.com', 'https://myexample.com'],
  ['example.com', 'https://example.com.evil.test'],
  ['example.com:8443', 'https://example.com'],
  ['10.0.0.0/8', 'http://11.0.0.1'],
  ['10.0.0.0/8', 'https://10.example.com'],
  ['10.0.0.0/40', 'http://10.0.0.1'],
  ['10.0.0.0/8/8', 'http://10.0.0.1'],
  ['0.0.7', 'http://10.0.0.7'],
  ['10.*', 'http://110.0.0.1'],
  ['fd00::/8', 'http://[fe80::1]'],
  ['fd12::7', 'http://[fd12::8]'],
  ['(a+)+$', 'http://aaaa'],
])('NO_PROXY=%s: %s is called through the proxy', (except, url) => {
  expect(isDirect(except, url)).toBe(false);
});
