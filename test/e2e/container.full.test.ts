import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Does what a builder and a runtime do with the Containerfile, without either: each stage is a folder, into which COPY copies nothing but
 * what the clone has, and in which RUN runs. The program then runs as another user, who can write to the volume only.
 */
interface Instruction {
  name: string;
  text: string;
}

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const missing = isRoot ? '' : ' (skipped: only root can start a program as another user)';

const instructions: Instruction[] = readFileSync('Containerfile', 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ name: line.replace(/ .*/, ''), text: line.replace(/^\S+ +/, '') }));

const texts = (name: string) => instructions.flatMap((it) => (it.name === name ? [it.text] : []));
const only = (name: string) => {
  expect(texts(name)).toHaveLength(1);
  return texts(name)[0] ?? '';
};
const command = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));

/** The folder in place of the file system of each stage. */
const stages: string[] = [];
const programs = resolve('node_modules/.bin');
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== programs);
let folder: string;
let node: string;
let child: ChildProcess | undefined;

const root = () => stages.at(-1) ?? '';
const inRoot = (text: string) => text.replaceAll(/(?<=^|\s)\/(?=[a-z])/g, `${root()}/`);

function copy(text: string, workingFolder: string): void {
  const [target = '', ...sources] = text.split(' ').reverse();
  if (sources.at(-1) === '--from=build') {
    cpSync(join(stages[0] ?? '', sources[0] ?? ''), join(root(), target), {
      recursive: true,
      verbatimSymlinks: true,
    });
    return;
  }
  for (const source of sources.reverse()) {
    const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', source];
    const files = execFileSync('git', listed, { encoding: 'utf8' }).split('\0').filter(existsSync);
    expect(files, `COPY ${source}`).not.toEqual([]);
    for (const file of files) {
      const isFile = file === source;
      const rest = isFile && target.endsWith('/') ? basename(file) : file.slice(source.length);
      const to = join(root(), workingFolder, target, rest);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(file, to);
    }
  }
}

async function build(): Promise<void> {
  let workingFolder = '/';
  for (const { name, text } of instructions) {
    if (name === 'FROM') {
      stages.push(join(folder, String(stages.length)));
      mkdirSync(join(root(), 'usr/local/bin'), { recursive: true });
      workingFolder = '/';
    } else if (name === 'WORKDIR') {
      workingFolder = text;
      mkdirSync(join(root(), text));
    } else if (name === 'COPY') copy(text, workingFolder);
    else if (name === 'RUN')
      await run('sh', ['-ec', inRoot(text)], {
        cwd: join(root(), workingFolder),
        env: {
          HOME: process.env.HOME,
          PATH: [dirname(node), ...path].join(delimiter),
          npm_config_prefer_offline: 'true',
        },
        maxBuffer: 64 * 1024 * 1024,
      });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Of the image, for the user that it names; there is no folder for temporary files. */
async function environment(): Promise<{ uid: number; gid: number; env: NodeJS.ProcessEnv; cwd: string }> {
  const [uid = 0, gid = 0] = only('USER').split(':').map(Number);
  const set = only('ENV')
    .split(' ')
    .map((pair) => pair.split('=').map((part) => inRoot(part)));
  const env = { ...Object.fromEntries(set), GATEWAY_PORT: String(await freePort()) };
  return { uid, gid, env: { ...env, PATH: dirname(node), TMPDIR: join(root(), 'nosuch') }, cwd: root() };
}

beforeAll(async () => {
  if (missing) return;
  folder = mkdtempSync(join(tmpdir(), 'gateway-container-'));
  // The other user must be able to reach it, and this Node.
  chmodSync(folder, 0o755);
  node = join(folder, 'bin/node');
  mkdirSync(dirname(node));
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  await build();
  // Packages are installed, which a slow registry delays if npm's cache lacks them.
}, 1_200_000);

afterAll(async () => {
  if (child && child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test.skipIf(missing)(
  `an image serves as a plain user who can write to its volume only, and says that it is healthy${missing}`,
  async () => {
    const user = await environment();
    const written = (line: string) => [node, ...command(line).slice(1).map(inRoot)];
    const [, ...entry] = written(only('ENTRYPOINT'));
    let output = '';
    child = spawn(node, [...entry, ...command(only('CMD'))], { ...user, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        output += bytes.toString();
      });
    await expect.poll(() => output).toContain('ready at');
    const [, ...check] = written(only('HEALTHCHECK'));
    await run(node, check, user);
    // As `podman exec gateway gateway models` does.
    const { stdout } = await run(join(root(), 'usr/local/bin/gateway'), ['keys', 'list', '--json'], user);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
    expect(output).not.toMatch(/EACCES|EROFS|ENOENT/);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    await expect(run(node, check, user)).rejects.toMatchObject({ code: 1 });
  },
);

test('an image has one volume, and no secret, tests or sources in it', () => {
  expect(texts('VOLUME')).toEqual(['/data']);
  const [, ...last] = texts('FROM');
  expect(last).toHaveLength(1);
  expect(texts('COPY').at(-1)).toBe('--from=build /app /app');
  expect(texts('ARG')).toEqual([]);
  if (missing) return;
  for (const path of ['app/src', 'app/test', 'app/node_modules/vitest'])
    expect(existsSync(join(root(), path))).toBe(false);
});
