import { describe, expect, test } from 'vitest';
import { proxiesIn, shownProxy } from '../../src/shared/proxies.ts';

const read = (env: Record<string, string>) => {
  const faults: { place: string; message: string }[] = [];
  return { proxies: proxiesIn(env, faults), faults };
};

describe('proxies from the environment', () => {
  test.each([
    ['none', {}, undefined],
    ['none where they are blank', { HTTPS_PROXY: ' ', NO_PROXY: '*' }, undefined],
    [
      'one for each scheme',
      { HTTP_PROXY: 'http://a', HTTPS_PROXY: 'https://b:8443', NO_PROXY: 'x.test, .y.test' },
      { http: 'http://a', https: 'https://b:8443', except: 'x.test, .y.test' },
    ],
    [
      'lower case before upper case',
      { https_proxy: 'http://lower', HTTPS_PROXY: 'http://upper', no_proxy: 'l', NO_PROXY: 'u' },
      { http: '', https: 'http://lower', except: 'l' },
    ],
    [
      'one for all that have none of their own',
      { ALL_PROXY: 'socks5h://s:1080', HTTPS_PROXY: 'http://b' },
      { http: 'socks5h://s:1080', https: 'http://b', except: '' },
    ],
    [
      'without a scheme, as curl takes it',
      { https_proxy: 'proxy:3128' },
      { http: '', https: 'http://proxy:3128', except: '' },
    ],
  ])('%s', (_what, env, expected) => {
    expect(read(env as Record<string, string>)).toEqual({ proxies: expected, faults: [] });
  });

  test.each(['ftp://me:secret@proxy', 'http://', 'http://me:secret@', 'socks4://proxy'])(
    'an invalid proxy is reported by variable, not by value: %s',
    (value) => {
      const { faults } = read({ https_proxy: value });
      expect(faults).toEqual([
        { place: 'https_proxy', message: expect.stringContaining('expected a proxy address') },
      ]);
      expect(JSON.stringify(faults)).not.toContain('secret');
    },
  );
});

test('a proxy is shown without its name and password', () => {
  expect(shownProxy('http://me:secret@proxy.test:3128/x?y')).toBe('http://proxy.test:3128');
});
