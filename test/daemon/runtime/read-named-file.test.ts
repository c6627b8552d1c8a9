import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readConfigFile } from '../../../src/daemon/config/read-config-file.ts';
import { setValue } from '../../../src/daemon/config/set-value.ts';
import { readNamedFile } from '../../../src/daemon/runtime/read-named-file.ts';
import { readRecordings } from '../../../src/daemon/upstream/recordings/recording.ts';
import { readYaml } from '../../../src/daemon/yaml/read-yaml.ts';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-named-'));
  path = join(folder, 'file.yaml');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const read = (waitMs?: number) => readNamedFile(path, { bytesMax: 2 * 1024 ** 2, waitMs });

test('a file is read whole', async () => {
  const content = Buffer.alloc(300_000, 'abc');
  writeFileSync(path, content);
  expect(await read()).toEqual(content);
});

test.each<[string, string, (path: string) => unknown]>([
  ['nothing', 'cannot be read (ENOENT)', () => {}],
  ['a folder', 'is a folder', (at) => symlinkSync(folder, at)],
  ['a link to itself', 'cannot be read (ELOOP)', (at) => symlinkSync(at, at)],
  [
    'a large file',
    'is larger than 2 MiB',
    (at) => {
      writeFileSync(at, '');
      truncateSync(at, 2 * 1024 ** 2 + 1);
    },
  ],
])('%s', async (_what, problem, make) => {
  make(path);
  await expect(read()).rejects.toThrow(`${path} ${problem}.`);
});

describe.skipIf(process.platform === 'win32')('what is no file', () => {
  test('a device without an end is not read for ever, and an empty one is empty', async () => {
    symlinkSync('/dev/zero', path);
    await expect(read()).rejects.toThrow('is larger than 2 MiB');
    await rm(path);
    symlinkSync('/dev/null', path);
    expect(await read()).toEqual(Buffer.alloc(0));
  });

  test('a pipe is read to its end, in as many parts as it is written', async () => {
    execFileSync('mkfifo', [path]);
    const reading = read();
    const writer = await open(path, 'w');
    await writer.write('first, ');
    await writer.write('second');
    await writer.close();
    expect((await reading).toString()).toBe('first, second');
  });

  test('a pipe without a writer, or that is not closed, occupies no thread for files and fails', async () => {
    execFileSync('mkfifo', [path]);
    // More than there are threads.
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => read(0)));
    for (const one of all)
      expect(one).toMatchObject({
        reason: { message: expect.stringContaining('to which nothing was written') },
      });
    const keeper = await open(path, 'r+');
    await keeper.write('unfinished');
    await expect(read(0)).rejects.toThrow('that its writer did not close');
    await keeper.close();
  });
});

describe('the problem is reported', () => {
  const fault = { place: '', message: 'It is a folder.' };

  test('of the configuration, which stays as it is', async () => {
    expect(await readConfigFile(folder, { required: false })).toMatchObject({
      faults: [{ ...fault, place: folder }],
    });
    expect(await setValue(folder, { name: 'log.level', value: 'debug' })).toEqual({
      faults: [{ ...fault, place: folder }],
    });
  });

  test('of a configuration that cannot be written', async () => {
    writeFileSync(path, '');
    const within = join(path, 'config.yaml');
    expect(await setValue(within, { name: 'log.level', value: 'debug' })).toEqual({
      faults: [{ place: within, message: expect.stringMatching(/^It cannot be written \(E[A-Z]+\)\.$/) }],
    });
  });

  test('of a configuration that is something else', async () => {
    writeFileSync(path, '');
    truncateSync(path, 100 * 1024 ** 2);
    const { faults } = await readConfigFile(path, { required: false });
    expect(faults).toEqual([{ place: path, message: 'It is larger than 1 MiB.' }]);
  });

  test('of a recording', async () => {
    execFileSync('mkdir', [join(folder, 'call.yaml')]);
    expect(await readRecordings(folder)).toEqual({
      faults: [{ file: join(folder, 'call.yaml'), line: 1, column: 1, message: 'It is a folder.' }],
    });
  });
});

test('only files whose names and kinds the daemon knows are read otherwise', () => {
  const readers = globSync('src/daemon/**/*.ts', { exclude: (name) => name.endsWith('/web') }).filter(
    (file) => /\b(readFile|readFileSync)\(/.test(readFileSync(file, 'utf8')),
  );
  expect(readers.toSorted()).toEqual([
    // Of the program and of the kernel.
    'src/daemon/http/pages/assets.ts',
    'src/daemon/http/protection/limits.ts',
    'src/daemon/http/web-assets.ts',
    // Of the data folder, which are known to be files; each is written by the daemon.
    'src/daemon/process/backup-files.ts',
    'src/daemon/process/daemon-file.ts',
    'src/daemon/process/master-key-stores.ts',
    'src/daemon/process/port-holder.ts',
    'src/daemon/process/start-failures.ts',
    // Of nginx and the kernel.
    'src/daemon/reverse-proxy/nginx-workers.ts',
    'src/daemon/storage/sqlite/backups/finish-restore.ts',
    'src/daemon/storage/sqlite/engine/commit-count.ts',
    'src/daemon/upstream/engine/model-processes.ts',
  ]);
});

const growthOf = stepGrowth('yaml');

describe('YAML of thousands of entries', () => {
  const lines = (line: (at: number) => string, length = 20_000) =>
    Array.from({ length }, (_, at) => line(at)).join('\n');

  test.each([
    ['keys', 1_000],
    ['aliases without anchors', 100],
  ])('is parsed in linear time: %s', async (name, length) => {
    const { growth, result } = await growthOf(name);
    expect(growth).toBeLessThan(linearGrowth);
    expect(result).toBe(length);
  });

  test('is never compared key by key', () => {
    const calls = globSync('src/daemon/**/*.ts').flatMap(
      (file) => readFileSync(file, 'utf8').match(/\bparseDocument\([^)]*\)/g) ?? [],
    );
    expect(calls.length).toBeGreaterThanOrEqual(4);
    for (const call of calls) expect(call).toContain('uniqueKeys: false');
  });

  test('has as many faults as someone can read', () => {
    const parsed = readYaml(
      lines((at) => `key${at % 10}: 1`),
      path,
    );
    expect(parsed).toMatchObject({ faults: { length: 100 } });
    expect('faults' in parsed && parsed.faults[0]).toEqual({
      file: path,
      line: 11,
      column: 1,
      message: '`key0` is already set above',
    });
  });
});
