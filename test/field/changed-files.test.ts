import { execFile } from 'node:child_process';
import { lstat, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { changeFile } from '../../src/cli/change-file.ts';
import { setValue } from '../../src/daemon/config/set-value.ts';

/** Files that commands change while others do, and that links lead to. */

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-changed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const set = (file: string, name: string) => setValue(file, { name, value: 'sim/echo' });

// anthropics/claude-code#29112, anthropics/claude-code#29140: sessions that ran together lost each other's changes.
test('settings that are changed at once are all kept', async () => {
  const folder = await newFolder();
  const file = join(folder, 'config.yaml');
  const names = Array.from({ length: 12 }, (_, at) => `aliases.a${at}`);
  expect(await Promise.all(names.map((name) => set(file, name)))).toEqual(
    names.map(() => ({ isChanged: true })),
  );
  const text = await readFile(file, 'utf8');
  for (const name of names) expect(text).toContain(`  ${name.slice('aliases.'.length)}: sim/echo\n`);
  expect(await readdir(folder)).toEqual(['config.yaml']);
});

// coda0HQ/open-artifacts#31, synthetic-sciences/openscience#54: a login that ended meanwhile took others with it.
test('logins that are stored at once are all kept', async () => {
  const folder = await newFolder();
  const file = join(folder, 'logins.json');
  const script = `
    import { readFileSync } from 'node:fs';
    import { changeFile } from ${JSON.stringify(import.meta.resolve('../../src/cli/change-file.ts'))};
    const [, file, name] = process.argv;
    const read = () => { try { return JSON.parse(readFileSync(file, 'utf8')); } catch { return {}; } };
    for (let at = 0; at < 20; at += 1)
      changeFile(file, () => JSON.stringify({ ...read(), [name + at]: 1 }));`;
  const run = (name: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, file, name]);
  await Promise.all(['a', 'b', 'c'].map(run));
  expect(Object.keys(JSON.parse(await readFile(file, 'utf8')))).toHaveLength(60);
  expect(await readdir(folder)).toEqual(['logins.json']);
});

// stella/stella#1248: a process that was killed while it wrote.
test('what a killed process left behind delays nothing', async () => {
  const folder = await newFolder();
  const [config, hosts] = [join(folder, 'config.yaml'), join(folder, 'hosts.json')];
  const before = new Date(Date.now() - 60_000);
  for (const file of [config, hosts]) {
    await writeFile(`${file}.lock`, '');
    await utimes(`${file}.lock`, before, before);
  }
  expect(await set(config, 'aliases.fast')).toEqual({ isChanged: true });
  changeFile(hosts, () => '{}');
  expect((await readdir(folder)).sort()).toEqual(['config.yaml', 'hosts.json']);
});

// dedene/zentty#15, tstack/lnav#1489, TomBadash/Mouser#193, rjyo/moshi-skill#17
test('a link into a repository stays one, also to a file that is not there yet', async () => {
  const folder = await newFolder();
  for (const name of ['config.yaml', 'hosts.json']) {
    await symlink(`second-${name}`, join(folder, name));
    await symlink(`real-${name}`, join(folder, `second-${name}`));
  }
  const write = async (model: string) => {
    expect(await setValue(join(folder, 'config.yaml'), { name: 'aliases.fast', value: model })).toEqual({
      isChanged: true,
    });
    changeFile(join(folder, 'hosts.json'), () => model);
  };
  await write('sim/echo');
  await write('sim/slow');
  for (const name of ['config.yaml', 'hosts.json']) {
    expect((await lstat(join(folder, name))).isSymbolicLink()).toBe(true);
    expect((await lstat(join(folder, `real-${name}`))).isFile()).toBe(true);
    expect(await readFile(join(folder, name), 'utf8')).toContain('sim/slow');
  }
});

test('farion1231/cc-switch#5249: a link into a folder that is not there stays one, and nothing is written', async () => {
  const folder = await newFolder();
  const [config, hosts] = [join(folder, 'config.yaml'), join(folder, 'hosts.json')];
  for (const file of [config, hosts]) await symlink(join(folder, 'missing/file'), file);
  expect(await set(config, 'aliases.fast')).toEqual({
    faults: [{ place: config, message: 'It cannot be written (ENOENT).' }],
  });
  expect(() => changeFile(hosts, () => '{}')).toThrow(`Cannot write ${hosts} (ENOENT).`);
  expect((await readdir(folder)).sort()).toEqual(['config.yaml', 'hosts.json']);
  expect((await lstat(config)).isSymbolicLink()).toBe(true);
});
