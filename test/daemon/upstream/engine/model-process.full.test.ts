import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type EngineSettings, ModelProcess } from '../../../../src/daemon/upstream/engine/model-process.ts';
import { findLibrary } from '../../../../src/daemon/upstream/engine/model-processes.ts';
import type { DecideAnswer } from '../../../../src/daemon/upstream/engine/protocol.ts';
import { engineSkipReason, hasEngineLibrary, linkEngineLibrary } from '../../../support/engine-library.ts';
import { eventually } from '../../../support/eventually.ts';
import { tinyGguf } from '../../../support/tiny-gguf.ts';

const usual: EngineSettings = { memoryBytes: 4 * 1024 ** 3, contextTokens: 2048, idleMs: 3_600_000 };
const body = {
  document: 'The sky is blue.',
  questions: [
    { instruction: 'Which colour?', options: ['blue', 'red'] },
    { instruction: 'What?', options: ['sea', 'sky', 'sun'] },
  ],
};

describe.skipIf(!hasEngineLibrary)(`the process of a model${engineSkipReason}`, () => {
  let folder: string;
  let path: string;
  const opened: ModelProcess[] = [];
  const warnings: string[] = [];

  const open = (settings: Partial<EngineSettings> = {}) => {
    const model = new ModelProcess(
      { name: 'tiny', path, bytes: undefined },
      {
        library: () => findLibrary(folder),
        settings: { ...usual, ...settings },
        log: { warn: (_, message) => void warnings.push(message) },
      },
    );
    opened.push(model);
    return model;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-model-'));
    await linkEngineLibrary(folder);
    path = join(folder, 'tiny.gguf');
    await writeFile(path, tinyGguf());
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((model) => model.close()));
    warnings.length = 0;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('answers concurrent decisions', async () => {
    const model = open();
    const answers = await Promise.all([1, 2, 3].map(() => model.ask<DecideAnswer>('decide', body)));
    for (const { probabilities, inputTokens } of answers) {
      expect(probabilities.map((each) => each.length)).toEqual([2, 3]);
      expect(inputTokens).toBeGreaterThan(0);
    }
  });

  test('fails the requests that run when it dies, and starts again for the next one', async () => {
    const model = open();
    await model.load();
    const { pid } = model;
    if (pid === undefined) throw new Error('it does not run');
    process.kill(pid, 'SIGSTOP');
    const asked = [model.ask('decide', body), model.ask('digest', {})];
    const outcomes = Promise.allSettled(asked);
    // Both were sent by then.
    await new Promise(setImmediate);
    process.kill(pid, 'SIGKILL');
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'server' } });
    }
    expect(warnings).toEqual([expect.stringContaining('SIGKILL')]);
    await model.ask('decide', body);
    expect(model.pid).not.toBe(pid);
  });

  test('ends above its memory limit, and is not started again immediately', async () => {
    const model = open({ memoryBytes: 48 * 1024 ** 2 });
    const tooMuch = { kind: 'server', message: expect.stringContaining('engine.memory_mb') };
    // It may be loaded before its memory is looked at.
    await model.load().catch(() => {});
    await eventually('its end', () => model.pid === undefined);
    await expect(model.load()).rejects.toMatchObject(tooMuch);
  });

  test('leaves memory when it is not used', async () => {
    const model = open({ idleMs: 1 });
    await model.ask('decide', body);
    await eventually('its end', () => model.pid === undefined);
    await model.ask('decide', body);
    expect(warnings).toEqual([]);
  });

  test('stops generating when its reader leaves, and answers the next request', async () => {
    const model = open();
    const controller = new AbortController();
    const { body: stream } = await model.send(
      'chat',
      {
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        // A list that fills the context.
        response_format: {
          type: 'json_schema',
          json_schema: { schema: { type: 'array', items: { type: 'boolean' }, minItems: 300 } },
        },
      },
      { signal: controller.signal },
    );
    const first = await stream[Symbol.asyncIterator]().next();
    expect(Buffer.from(first.value ?? []).toString()).toContain('chat.completion.chunk');
    controller.abort();
    await model.ask('decide', body);
  });

  test('says why a file is no model', async () => {
    const broken = join(folder, 'broken.gguf');
    await writeFile(broken, tinyGguf().subarray(0, 5_000));
    const model = new ModelProcess(
      { name: 'broken', path: broken, bytes: undefined },
      { library: () => findLibrary(folder), settings: usual, log: { warn: () => {} } },
    );
    opened.push(model);
    await expect(model.load()).rejects.toMatchObject({
      kind: 'server',
      message: expect.stringMatching(/^broken: ./),
    });
  });
});

/** In place of the library: cannot be loaded, and leaves its output to a process that ends a moment later. */
const failingLibrary = `
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
appendFileSync(new URL('starts', import.meta.url), 'started');
spawn('sleep', ['0.3'], { stdio: ['ignore', 'ignore', 'inherit'], detached: true }).unref();
throw new Error('it is broken');`;

test.skipIf(process.platform === 'win32')(
  'a process that failed is not started again while its output may still say why',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-model-'));
    const library = join(folder, 'library.mjs');
    await writeFile(library, failingLibrary);
    const model = new ModelProcess(
      { name: 'broken', path: library, bytes: undefined },
      { library: () => pathToFileURL(library).href, settings: usual, log: { warn: () => {} } },
    );
    const load = () =>
      model.load().then(
        () => 'it is loaded',
        (error: Error) => error.message,
      );
    const first = load();
    const { pid = 0 } = model;
    await eventually('its end', () => hasEnded(pid));
    const reason = 'broken: it is broken';
    expect(await Promise.all([first, load()])).toEqual([reason, reason]);
    expect(model.pid).toBeUndefined();
    await expect(model.load()).rejects.toThrow('broken: it is broken');
    expect(await readFile(join(folder, 'starts'), 'utf8')).toBe('started');
    await rm(folder, { recursive: true });
  },
);

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
