import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nginxTarget } from '../../../src/daemon/reverse-proxy/nginx-target.ts';

test('nginx is reloaded after a rejected text, which its last reload may have read', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-nginx-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'paywalls.conf');
  const calls = join(folder, 'calls');
  // In place of nginx: records how it is called and what the file holds then.
  const script = `
    const text = fs.readFileSync(${JSON.stringify(file)}, 'utf8');
    fs.appendFileSync(${JSON.stringify(calls)}, process.argv.slice(1).join(' ') + ' ' + text + '\\n');
    if (text === 'bad') { console.error('nginx: [emerg] bad'); process.exit(1); }`;
  const apply = nginxTarget({ file, command: [process.execPath, '-e', script, '--'] });
  await apply('good');
  await expect(apply('bad')).rejects.toThrow('[emerg] bad');
  const called = (await readFile(calls, 'utf8')).trim().split('\n');
  const changes = called.filter((call) => !/^-[VT]/.test(call));
  expect(changes).toEqual(['-t good', '-s reload good', '-t bad', '-s reload good']);
  // What is loaded needs no other reload.
  await apply('good');
  expect((await readFile(calls, 'utf8')).trim().split('\n')).toEqual(called);
});
