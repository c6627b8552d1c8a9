import { expect, test } from 'vitest';
import { statusReaders } from '../../../../src/daemon/features/about/index.ts';

type Deps = Parameters<typeof statusReaders>[0];

const readers = (deps: Partial<Deps>) =>
  statusReaders({
    backendState: async () => ({ backend: 'embedded', state: 'ready', problems: [] }),
    spansStatus: () => null,
    catalog: { all: async () => [] } as never,
    health: { hostBenches: () => [] },
    settings: { defaultModel: undefined },
    providers: new Map(),
    storage: {
      state: () => ({ writable: true, reason: undefined }),
      server: undefined,
      members: { count: () => 1 },
    },
    vault: { status: async () => ({ state: 'no_vault', store: null, reason: null }) } as never,
    process: {
      url: () => 'http://127.0.0.1:4100',
      socket: null,
      pid: 1,
      version: '0.1.0',
      dataFolder: '/data',
      workers: 1,
      startedAt: Date.parse('9999-01-01'),
    },
    elapsed: () => 0,
    ...deps,
  });

test('uptime keeps increasing when the wall clock is set back', async () => {
  let elapsed = 500;
  const { status } = readers({ elapsed: () => elapsed });
  elapsed += 1234.4;
  expect(await status()).toMatchObject({ uptime_ms: 1234, started_at: '9999-01-01T00:00:00.000Z' });
});

test.each([
  ['unknown-model', 'available', null],
  ['failing', 'benched', 'failing'],
])('a provider with a bench for the reason %s is %s', async (reason, state, shown) => {
  const { status } = readers({
    health: {
      hostBenches: () => [{ account: 'acme', provider: 'acme', providerModel: 'nosuch', reason }],
    } as never,
    providers: new Map([
      ['acme', { description: { name: 'acme', available: true, models: ['one'] } }],
    ]) as never,
  });
  expect((await status()).providers).toEqual([{ name: 'acme', state, models: 0, reason: shown }]);
});
