import { expect, test } from 'vitest';
import { Catalog } from '../../../../src/daemon/features/catalog/index.ts';
import { createLocalServers } from '../../../../src/daemon/features/providers/local-servers.ts';
import { createProviderSet } from '../../../../src/daemon/features/providers/provider-set.ts';
import { localProvider } from '../../../../src/daemon/upstream/providers-from-config.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

/** A daemon's catalog beside model servers that come and go. */
function aMachine() {
  const world = fakeWorld();
  const state = { models: undefined as string[] | undefined, contextLength: 4096, looks: 0, indexed: 0 };
  const timeouts = {} as never;
  const find = async () => {
    state.looks += 1;
    const { models } = state;
    if (models === undefined) return [];
    const listed = models.map((name) => ({ name, contextLength: state.contextLength }));
    const server = { name: 'ollama' as const, baseUrl: 'http://127.0.0.1:11434/v1', models: listed };
    return [localProvider(server, { world, timeouts, makeCallId: () => 'call_1' })];
  };
  const onUnknown = () => local.lookAgain();
  const catalog = new Catalog({ world, providers: [], onUnknown, loadPrices: async () => ({}) as never });
  const providers = createProviderSet([], {
    catalog,
    health: { forgive: () => {} },
    keepListings: async () => {},
    now: world.now,
    sealedKeyOf: async () => undefined,
    onChange: () => {
      state.indexed += 1;
    },
  });
  const local = createLocalServers({ find, providers, world });
  const id = async (name: string) => (await catalog.resolve(name)).id;
  const contextOf = async (name: string) => (await catalog.resolve(name)).offers[0]?.contextLength;
  return { world, state, local, id, contextOf };
}

test('a server that is started later is found by a call for one of its models', async () => {
  const { world, state, id } = aMachine();
  await expect(id('ollama/qwen3.6')).rejects.toMatchObject({ code: 'model_not_found' });
  state.models = ['qwen3.6'];
  await world.advance(2_000);
  expect(await id('ollama/qwen3.6')).toBe('ollama/qwen3.6');
  state.models = ['qwen3.6', 'gemma3'];
  await world.advance(2_000);
  expect(await id('ollama/gemma3')).toBe('ollama/gemma3');
});

test('names of nothing are looked for every two seconds at most, however many callers ask', async () => {
  const { world, state, id } = aMachine();
  const ask = () => Promise.allSettled(Array.from({ length: 50 }, (_, at) => id(`ollama/none-${at}`)));
  await ask();
  await ask();
  expect(state.looks).toBe(1);
  await world.advance(2_000);
  await ask();
  expect(state.looks).toBe(2);
});

test('servers are looked for each minute, and one that is gone keeps its models', async () => {
  const { world, state, local, id } = aMachine();
  const stop = new AbortController();
  const failures: unknown[] = [];
  const looking = local.keepLooking(stop.signal, (error) => failures.push(error));
  await world.advance(60_000);
  state.models = ['qwen3.6'];
  await world.advance(60_000);
  await world.advance(60_000);
  expect(state).toMatchObject({ looks: 3, indexed: 1 });
  state.models = undefined;
  expect(local.isStopped('ollama')).toBe(false);
  await world.advance(60_000);
  expect(await id('ollama/qwen3.6')).toBe('ollama/qwen3.6');
  expect([local.isStopped('ollama'), local.isStopped('lmstudio')]).toEqual([true, false]);
  state.models = ['qwen3.6'];
  await world.advance(60_000);
  expect(local.isStopped('ollama')).toBe(false);
  stop.abort();
  await looking;
  expect(failures).toEqual([]);
});

test('a model that is loaded again with another context has that one', async () => {
  const { state, local, contextOf } = aMachine();
  state.models = ['qwen3.6'];
  await local.look();
  expect(await contextOf('ollama/qwen3.6')).toBe(4096);
  state.contextLength = 32_768;
  await local.look();
  expect(await contextOf('ollama/qwen3.6')).toBe(32_768);
});
