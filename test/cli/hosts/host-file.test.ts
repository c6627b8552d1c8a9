import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loginLink, readLoginLink } from '../../../src/cli/hosts/host-address.ts';
import { changeHostFile, findHostEntry, readHostFile } from '../../../src/cli/hosts/host-file.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';

const surroundings = (home: string) => ({ env: { GATEWAY_HOME: home }, platform: process.platform, home });

test('changes are stored in a file that only its owner can read', async () => {
  const home = await temporaryHome();
  const around = surroundings(home);
  expect(readHostFile(around)).toEqual({ current: null, hosts: {}, localWorkspace: null });
  const work = {
    url: 'https://gateway.example.org',
    login: null,
    session: null,
    user: null,
    workspace: null,
  };
  changeHostFile(around, (file) => {
    file.hosts.work = work;
    file.current = 'work';
  });
  expect(findHostEntry(readHostFile(around), 'work')).toEqual({ ...work, name: 'work' });
  expect(findHostEntry(readHostFile(around), 'constructor')).toBeUndefined();
  expect(readdirSync(home)).toEqual(['hosts.json']);
  if (process.platform !== 'win32') expect(statSync(join(home, 'hosts.json')).mode & 0o777).toBe(0o600);
});

test('an invalid file is reported with its path and a remedy', async () => {
  const home = await temporaryHome();
  writeFileSync(join(home, 'hosts.json'), '{"hosts":');
  const { code, stderr } = await runCli(['host', 'list'], { env: { GATEWAY_HOME: home } });
  expect(code).toBe(1);
  expect(stderr).toContain(`${join(home, 'hosts.json')} is not valid.`);
});

test('a login link splits into its parts', () => {
  for (const url of ['https://gateway.example.org', 'http://127.0.0.1:4100', 'https://example.org/gateway']) {
    expect(readLoginLink(loginLink(`${url}/`, '7K3QM-9XWZ2'))).toEqual({ url, code: '7K3QM-9XWZ2' });
  }
  expect(readLoginLink('7K3QM-9XWZ2')).toEqual({ url: undefined, code: '7K3QM-9XWZ2' });
  expect(readLoginLink('ftp://x/login#7K3QM-9XWZ2').url).toBeUndefined();
});
