import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeWhole } from '../../src/daemon/config/set-value.ts';

test('vllm-project/semantic-router#4027, mautrix/go-util#28: a file mounted into a container can be changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-mounted-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  await writeFile(file, 'log: {level: warn}\n', { mode: 0o640 });
  const { ino } = await stat(file);
  // What Linux says of a file that is a mount of its own.
  const busy = () => Promise.reject(Object.assign(new Error('busy'), { code: 'EBUSY' }));
  await writeWhole(file, 'log: {level: info}\n', busy);
  expect(await readFile(file, 'utf8')).toBe('log: {level: info}\n');
  expect([(await stat(file)).ino, await readdir(folder)]).toEqual([ino, ['config.yaml']]);
});
