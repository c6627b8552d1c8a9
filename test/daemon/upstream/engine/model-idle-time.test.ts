import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ModelProcess } from '../../../../src/daemon/upstream/engine/model-process.ts';

/** In place of node-llama-cpp. */
const library = `
const model = { trainContextSize: 2048, fileInfo: { metadata: { general: { architecture: 'tiny' } } } };
export const getLlama = async () => ({ loadModel: async () => model });`;

const idleMs = 60_000;

async function openModel(): Promise<ModelProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-model-'));
  const path = join(folder, 'library.mjs');
  await writeFile(path, library);
  const model = new ModelProcess(
    { name: 'tiny', path, bytes: undefined },
    {
      library: () => pathToFileURL(path).href,
      settings: { memoryBytes: 4 * 1024 ** 3, contextTokens: 2048, idleMs },
      log: { warn: () => {} },
    },
  );
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(async () => {
    vi.useRealTimers();
    await model.close();
    await rm(folder, { recursive: true });
  });
  return model;
}

test('a request that starts just before the idle time ends is answered, and the idle time starts again', async () => {
  const model = await openModel();
  await model.load();
  const { pid } = model;
  expect(pid).toBeDefined();
  vi.advanceTimersByTime(idleMs - 1);
  const answer = model.ask('digest', {});
  vi.advanceTimersByTime(idleMs);
  expect(await answer).toHaveProperty('sha256');
  vi.advanceTimersByTime(idleMs - 1);
  expect(model.pid).toBe(pid);
  vi.advanceTimersByTime(1);
  expect(model.pid).toBeUndefined();
});

test('a model that is used by several requests stays in memory until the last one is answered', async () => {
  const model = await openModel();
  const first = model.load();
  const answer = model.ask('digest', {});
  await first;
  vi.advanceTimersByTime(idleMs);
  expect(await answer).toHaveProperty('sha256');
});
