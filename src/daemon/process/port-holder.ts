import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

/** The process that listens on a port, as `node server.js (pid 123)`; only on Linux and for processes of this user. */
export async function portHolder(port: number): Promise<string | undefined> {
  return await holderOf(await listeningInode(port));
}

/** The process that listens on a Unix socket, in the form of `portHolder`. */
export async function socketHolder(path: string): Promise<string | undefined> {
  return await holderOf(await socketInode(path));
}

async function holderOf(inode: string | undefined): Promise<string | undefined> {
  if (inode === undefined) return undefined;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (target !== `socket:[${inode}]`) continue;
      return `${await nameOf(pid)} (pid ${pid})`;
    }
  }
  return undefined;
}

/** The program and, for an interpreter, its script; never other arguments, which can be secrets. */
async function nameOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program = '', script = ''] = line.split('\0').map((word) => basename(word));
  if (program === '') return 'a process';
  return /^(node|bun|deno|python|ruby)/.test(program) && !script.startsWith('-')
    ? `${program} ${script}`.trim()
    : program;
}

/** Source of the columns: proc(5), /proc/net/tcp; state 0A is listening. */
async function listeningInode(port: number): Promise<string | undefined> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const rows = (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1);
    for (const row of rows) {
      const columns = row.trim().split(/\s+/);
      if (columns[1]?.endsWith(suffix) && columns[3] === '0A') return columns[9];
    }
  }
  return undefined;
}

/** Source of the columns: proc(5), /proc/net/unix; flag 00010000 is listening. */
async function socketInode(path: string): Promise<string | undefined> {
  const rows = (await readFile('/proc/net/unix', 'utf8').catch(() => '')).split('\n').slice(1);
  for (const row of rows) {
    const [, , , flags, , , inode, ...rest] = row
      .trim()
      .split(' ')
      .filter((column) => column !== '');
    if (flags === '00010000' && rest.join(' ') === path) return inode;
  }
  return undefined;
}
