import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { setValue } from '../../../src/daemon/config/set-value.ts';
import { settings } from '../../../src/daemon/config/settings/table.ts';
import { configTools } from '../../../src/daemon/config/tools.ts';

let home: string;
let file: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-config-'));
  file = join(home, 'config.yaml');
});

afterEach(() => rm(home, { recursive: true, force: true }));

const place = (env: Record<string, string> = {}) => ({
  env: { GATEWAY_HOME: home, ...env },
  platform: 'linux',
  home: '/',
});

async function explained(name: string, env?: Record<string, string>) {
  const { settings: all } = await configTools.explain(place(env));
  return all.find((one) => one.name === name);
}

describe('an entry of a list', () => {
  const entry = (name: string) => `  - { name: ${name}, base_url: "https://${name}.example", models: [m] }\n`;
  const written = async () => parse(await readFile(file, 'utf8'));

  test('is set and removed by its name or its number', async () => {
    await writeFile(file, `# mine\nupstreams:\n${entry('acme')}${entry('other')}`);
    await setValue(file, { name: 'upstreams.acme.models', value: '["good"]' });
    await setValue(file, { name: 'upstreams.1.models', value: '["better"]' });
    expect((await written()).upstreams).toMatchObject([
      { name: 'acme', models: ['good'] },
      { name: 'other', models: ['better'] },
    ]);
    expect(await setValue(file, { name: 'upstreams.acme', value: undefined })).toEqual({ isChanged: true });
    expect((await written()).upstreams).toMatchObject([{ name: 'other' }]);
    expect(await readFile(file, 'utf8')).toContain('# mine');
  });

  test('is added by its name, and only the lines of the change differ', async () => {
    const before = `# mine
log:   {level: info}    # as ever
upstreams:
- name:   acme          # the first
  base_url: https://acme.example
  models: [m]

cache:
    default:  off       # not yet
`;
    await writeFile(file, before);
    const value = '{"base_url":"https://new.example","models":["*"]}';
    expect(await setValue(file, { name: 'upstreams.new', value })).toEqual({ isChanged: true });
    const after = await readFile(file, 'utf8');
    const kept = after.split('\n').filter((line) => before.split('\n').includes(line));
    expect(kept.join('\n')).toBe(before);
    expect(parse(after).upstreams[1]).toEqual({
      name: 'new',
      base_url: 'https://new.example',
      models: ['*'],
    });
    await setValue(file, { name: 'upstreams.new', value: undefined });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test.each([
    ['a: 1\nlisten: { port: 1 }', 'a name with lines'],
    ['" # "', 'a name with quotes and a comment'],
    ['*x', 'a name that looks like an alias'],
    ['!!null', 'a name that looks like a tag'],
  ])('%j as a name is a name and nothing else', async (name) => {
    await writeFile(file, '# mine\nlog: { level: info }\n');
    await setValue(file, { name: `aliases.${name}`, value: 'sim/echo' });
    expect(await written()).toEqual({ log: { level: 'info' }, aliases: { [name]: 'sim/echo' } });
    await setValue(file, { name: 'aliases.__proto__', value: 'sim/echo' });
    expect(await written()).toEqual({ log: { level: 'info' }, aliases: { [name]: 'sim/echo' } });
  });

  test.each([
    ['upstreams.none.models', 'upstreams has no entry none; they are acme.'],
    ['upstreams.none', 'upstreams has no entry none; they are acme.'],
    ['upstreams.7.models', 'upstreams has no entry 7; they are acme.'],
    ['upstreams.-1', 'upstreams has no entry -1; they are acme.'],
    ['upstreams.acme.models.good', 'upstreams.0.models has no entry good; they are numbered from 0.'],
    ['upstreams.acme.name.first', 'upstreams.0.name is one value, which has no first.'],
    ['default_model.name', 'default_model is one value, which has no name.'],
    ['fallback_on.empty', 'fallback_on has no entry empty; they are numbered from 0.'],
    ['listen.port.number', 'listen.port is one value, which has no number.'],
  ])('%s, which is not there, is named in a sentence', async (name, message) => {
    await writeFile(
      file,
      `listen: {port: 4100}\ndefault_model: sim/echo\nfallback_on: [empty]\nupstreams:\n${entry('acme')}`,
    );
    const before = await readFile(file, 'utf8');
    for (const value of ['x', '["x"]', '{a: 1}', undefined])
      expect(await setValue(file, { name, value })).toEqual({ faults: [{ place: name, message }] });
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('is added to settings of any kind without a crash', async () => {
    for (const { name } of settings)
      for (const key of ['0', '1', 'x', 'x.y', '0.x.y'])
        for (const value of ['x', '[]', '{}', undefined])
          expect(await setValue(file, { name: `${name}.${key}`, value })).toBeTypeOf('object');
  });
});

describe('the source of a value', () => {
  test('is the default, or the file with its line, or the environment', async () => {
    expect(await explained('listen.port')).toMatchObject({ value: 4100, source: 'default', place: null });
    await writeFile(file, '# mine\nlisten:\n  port: 5000\n');
    expect(await explained('listen.port')).toMatchObject({
      value: 5000,
      source: 'file',
      place: `${file}:3:9`,
    });
    const fromEnvironment = await explained('listen.port', { GATEWAY_PORT: '6000' });
    expect(fromEnvironment).toMatchObject({ value: 6000, source: 'environment', place: 'GATEWAY_PORT' });
  });

  test('lists count as one setting, and credentials in URLs and headers are masked', async () => {
    const headers = 'headers: { x-team: hidden, authorization: { env: TEAM }, x-title: shown }';
    await writeFile(
      file,
      `upstreams:\n  - { name: one, base_url: "https://one.example/v1?key=hidden", models: ["*"], ${headers} }\n`,
    );
    const upstreams = await explained('upstreams');
    expect(upstreams?.value).toMatchObject([
      {
        base_url: 'https://one.example/v1?key=[removed]',
        headers: { 'x-team': '[removed]', authorization: { env: 'TEAM' }, 'x-title': 'shown' },
      },
    ]);
    expect(JSON.stringify(upstreams)).not.toContain('hidden');
  });

  test('keys are shown only as the name of their variable', async () => {
    const all = await configTools.explain(place({ OPENAI_API_KEY: 'sk-secret-value' }));
    expect(JSON.stringify(all)).toContain('OPENAI_API_KEY');
    expect(JSON.stringify(all)).not.toContain('sk-secret-value');
  });

  test('all faults of an invalid file are reported', async () => {
    await writeFile(file, 'listen:\n  prot: 1\nmargin_percent: much\n');
    const { faults } = await configTools.explain(place());
    expect(faults.map((fault) => fault.place)).toEqual([`${file}:2:3`, `${file}:3:17`]);
  });
});

describe('setting a value', () => {
  const written = `# The house
listen:
  port: 4100          # as ever

aliases:
  # what we use
  fast: openai/gpt-5-mini
`;

  test('leaves the rest of the text unchanged', async () => {
    await writeFile(file, written);
    expect(await setValue(file, { name: 'listen.port', value: '4200' })).toEqual({ isChanged: true });
    expect(await readFile(file, 'utf8')).toBe(written.replace('port: 4100', 'port: 4200'));
  });

  test('keeps comments where something is added', async () => {
    await writeFile(file, written);
    await setValue(file, { name: 'aliases.gpt-4.1', value: 'openai/gpt-4.1' });
    await setValue(file, { name: 'cors.origins', value: '["https://app.example"]' });
    const text = await readFile(file, 'utf8');
    for (const comment of ['# The house', '# as ever', '# what we use']) expect(text).toContain(comment);
    expect(parse(text)).toEqual({
      listen: { port: 4100 },
      aliases: { fast: 'openai/gpt-5-mini', 'gpt-4.1': 'openai/gpt-4.1' },
      cors: { origins: ['https://app.example'] },
    });
  });

  test('creates a missing file, readable only by its owner', async () => {
    await setValue(file, { name: 'log.level', value: 'info' });
    expect(parse(await readFile(file, 'utf8'))).toEqual({ log: { level: 'info' } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('writes strings where strings are expected', async () => {
    await writeFile(
      file,
      'upstreams:\n  - { name: one, base_url: "https://one.example", models: [m], prices: { input: "1", output: "2" } }\n',
    );
    expect(await setValue(file, { name: 'upstreams.0.prices.input', value: '0.59' })).toEqual({
      isChanged: true,
    });
    expect(parse(await readFile(file, 'utf8')).upstreams[0].prices.input).toBe('0.59');
  });

  test.each([
    ['port', '; similar ones are listen.port, paywalls.port.'],
    ['simulat', ': did you mean simulate?'],
    ['providers.openai.bas_url', ': did you mean providers.openai.base_url?'],
    ['nothing', '.'],
  ])('an unknown %s gets a hint', async (name, hint) => {
    expect(await setValue(file, { name, value: '1' })).toEqual({
      faults: [{ place: name, message: `There is no such setting${hint}` }],
    });
  });

  test('a name that is empty is said to be', async () => {
    expect(await setValue(file, { name: '', value: '1' })).toEqual({
      faults: [{ place: 'name', message: 'It is empty.' }],
    });
  });

  test.each([
    ['listen.port', '70000'],
    ['listen.prot', '1'],
    ['log.level', 'loud'],
    ['nothing', '1'],
  ])('%s = %s is rejected and the file unchanged', async (name, value) => {
    await writeFile(file, written);
    expect(await setValue(file, { name, value })).toMatchObject({ faults: [expect.any(Object)] });
    expect(await readFile(file, 'utf8')).toBe(written);
  });

  test.each([
    ['{ sim/echo: 0 }', '`aliases.pool.sim/echo` must be a weight from 0.001 to 1000'],
    ['[]', '`aliases.pool` must not be empty'],
  ])('%s is reported as an invalid alias of several models, not taken for a name', async (value, message) => {
    const outcome = await setValue(file, { name: 'aliases.pool', value });
    expect(outcome).toMatchObject({ faults: [{ message }] });
  });

  test('an invalid file is not changed', async () => {
    await writeFile(file, 'listen: [');
    expect(await setValue(file, { name: 'log.level', value: 'info' })).toMatchObject({
      faults: [expect.any(Object)],
    });
    expect(await readFile(file, 'utf8')).toBe('listen: [');
  });

  test('a symbolic link remains a link', async () => {
    const real = join(home, 'real.yaml');
    await writeFile(real, 'local_servers: true\n');
    await symlink(real, file);
    await setValue(file, { name: 'local_servers', value: 'false' });
    expect(await readFile(real, 'utf8')).toBe('local_servers: false\n');
    expect((await import('node:fs')).lstatSync(file).isSymbolicLink()).toBe(true);
  });

  test('removing it also removes empty maps', async () => {
    await writeFile(file, written);
    await setValue(file, { name: 'listen.port', value: undefined });
    expect(parse(await readFile(file, 'utf8'))).toEqual({ aliases: { fast: 'openai/gpt-5-mini' } });
    await setValue(file, { name: 'aliases', value: undefined });
    expect(parse(await readFile(file, 'utf8'))).toBeNull();
  });

  test.each([
    ['nothing is left of', '# Mine.\n\nlog:\n  level: info\n'],
    ['has only comments', '# Mine.\n'],
    ['says null', '# Mine.\n\nnull\n'],
  ])('a file that %s can be added to', async (_which, text) => {
    await writeFile(file, text);
    await setValue(file, { name: 'log.level', value: undefined });
    expect(await setValue(file, { name: 'aliases.fast', value: 'sim/echo' })).toEqual({ isChanged: true });
    const result = await readFile(file, 'utf8');
    expect(parse(result)).toEqual({ aliases: { fast: 'sim/echo' } });
    expect(result).toContain('# Mine.');
  });
});

test('the schema accepts what the guide shows and rejects what the daemon rejects', async () => {
  const check = new Ajv2020({ strict: false }).compile(configTools.schema());
  const guide = await readFile('docs/configuration.md', 'utf8');
  expect(check(parse(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''))).toBe(true);
  expect(check({ listen: { prot: 1 } })).toBe(false);
});
