import { expect, test } from 'vitest';
import { childEnvironment } from '../../../src/shared/masking/child-environment.ts';
import { hostSecrets } from '../../../src/shared/masking/known-secrets.ts';

test('a child gets what it needs to run, and no secrets', () => {
  hostSecrets.add('canary-value-of-the-host');
  const needed = {
    PATH: '/usr/bin',
    HOME: '/home/ann',
    LANG: 'C.UTF-8',
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus,guid=0123456789abcdef',
    GNOME_KEYRING_CONTROL: '/run/user/1000/keyring',
    XAUTHORITY: '/run/user/1000/xauth',
  };
  const secret = {
    OPENAI_API_KEY: 'short',
    GATEWAY_VAULT_PASSPHRASE: 'a phrase',
    GH_TOKEN: 'x',
    HTTPS_PROXY: 'http://ann:hunter2@proxy.lan:3128',
    TEAM: 'canary-value-of-the-host',
    NOTHING: undefined,
  };
  expect(childEnvironment({ ...needed, ...secret })).toEqual(needed);
});
