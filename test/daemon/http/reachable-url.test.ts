import { expect, test } from 'vitest';
import { reachableUrl } from '../../../src/daemon/http/reachable-url.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4100'],
  ['gateway.lan', 'http://gateway.lan:4100'],
  ['::1', 'http://[::1]:4100'],
  ['0.0.0.0', 'http://127.0.0.1:4100'],
  ['::', 'http://[::1]:4100'],
])('who listens on %s is called at %s', (host, url) => {
  expect(reachableUrl(host, 4100)).toBe(url);
});
