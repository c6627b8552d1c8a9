import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { endedCpuSeconds } from './ended-cpu.ts';

/** Installed, and only read. */
const packages = ['node_modules', 'test/node_modules', 'tools/own-node/node_modules'];
const programs = ['.engine', '.coding-tools'];

export interface Ended {
  code: number | null;
  output: string;
  /** Of the program and those that it waited for; 0 where the system does not tell. */
  cpuSeconds: number;
}

/** A copy of the files of the working tree, in which the tests run. */
export class WorkingCopy {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-copy-')));
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor() {
    process.once('exit', () => this.#remove());
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        this.#isStopped = true;
        if (!this.#child) process.exit(1);
        // Test runners end their tests' programs then.
        this.#child.kill('SIGINT');
      });
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    for (const path of execFileSync('git', listed, { encoding: 'utf8' }).split('\0'))
      if (path !== '' && existsSync(path))
        cpSync(path, join(this.folder, path), { verbatimSymlinks: true, recursive: true });
    for (const path of packages) if (existsSync(path)) linkAll(path, join(this.folder, path));
    for (const path of programs)
      if (existsSync(path)) symlinkSync(resolve(path), join(this.folder, path), 'junction');
    // Some tests ask which files are tracked.
    execFileSync('git', ['init', '--quiet'], { cwd: this.folder });
    execFileSync('git', ['add', '--all'], { cwd: this.folder, stdio: 'ignore' });
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs a script with Node. */
  async run(script: string, args: readonly string[]): Promise<Ended> {
    const cpuBefore = endedCpuSeconds();
    const path = [join(this.folder, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
      cwd: this.folder,
      env: { ...process.env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const printed: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => printed.push(chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    this.#child = undefined;
    if (this.#isStopped) process.exit(1);
    return {
      code,
      output: Buffer.concat(printed).toString(),
      cpuSeconds: endedCpuSeconds() - cpuBefore,
    };
  }

  #remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Links the files of a folder; what is written later to either place does not appear in the other. */
function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    // Caches of the test runner.
    if (entry.name.startsWith('.vite')) continue;
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory()) linkAll(source, target);
    else linkFile(source, target);
  }
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // On another disk.
    copyFileSync(source, target);
  }
}
