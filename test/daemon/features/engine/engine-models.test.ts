import { expect, test } from 'vitest';
import { EngineModels, type ModelRunner } from '../../../../src/daemon/features/engine/index.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

/** Runs models without any work, and remembers which were closed. */
function idleRunner() {
  const closed: string[] = [];
  const runner: ModelRunner = {
    isInstalled: () => true,
    sizeOf: async () => 1,
    open: ({ name }) => ({
      pid: undefined,
      load: async () => ({ architecture: 'llama', trainedTokens: 512 }),
      digest: async () => 'ab'.repeat(32),
      decide: async () => ({ probabilities: [[0.5, 0.5]], inputTokens: 1 }),
      close: async () => void closed.push(name),
    }),
  };
  return { runner, closed };
}

test('a model that cannot be stored takes no role and leaves the others as they were', async () => {
  const { runner, closed } = idleRunner();
  let stored = '';
  let isFull = false;
  const models = new EngineModels({
    runner,
    world: fakeWorld(),
    onChange: () => {},
    save: async (text) => {
      if (isFull) throw new Error('the disk is full');
      stored = text;
    },
  });
  await models.add({ path: '/models/first.gguf' });
  const before = stored;
  isFull = true;
  await expect(models.add({ path: '/models/second.gguf', role: 'engine' })).rejects.toThrow('full');
  await expect(models.remove('first')).rejects.toThrow('full');
  expect(models.list()).toMatchObject([{ name: 'first', role: 'engine' }]);
  expect([closed, stored]).toEqual([['second'], before]);
  isFull = false;
  await models.add({ path: '/models/second.gguf', role: 'engine' });
  expect(models.list()).toMatchObject([
    { name: 'first', role: null },
    { name: 'second', role: 'engine' },
  ]);
});
