import { chmodSync, lstatSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';

/**
 * Maximum length of a socket's path, in bytes, without the terminating zero. Source: `sun_path` of unix(7), and of
 * macOS.
 */
const pathBytesMax = process.platform === 'darwin' ? 103 : 107;

/** The Unix socket cannot be used; the message says why. */
export class SocketUnusable extends Error {
  readonly path: string;
  /** Whether another process listens there. */
  readonly isTaken: boolean;

  constructor(path: string, message: string, { isTaken = false }: { isTaken?: boolean } = {}) {
    super(message);
    this.name = 'SocketUnusable';
    this.path = path;
    this.isTaken = isTaken;
  }
}

/** Who may connect: the user who runs the daemon, or also the group of the file. */
export type SocketAccess = 'owner' | 'group';

const modes: Record<SocketAccess, number> = { owner: 0o600, group: 0o660 };

/**
 * Listens on a Unix socket. The stale file of a killed daemon is replaced; anything else is left alone, and
 * SocketUnusable is thrown. The file is removed when the server closes.
 */
export async function listenOnSocketFile(server: Server, path: string, access: SocketAccess): Promise<void> {
  checkSocketPath(path);
  const left = await leftBehind(path);
  // Synchronous up to the bind, so that two daemons that find the same file do not take each other's.
  if (left !== undefined && isSame(left, look(path))) remove(path);
  const failure = await bindFor(server, path, access);
  if (failure === undefined) return;
  if (failure.code === 'EADDRINUSE') throw socketInUse(path);
  throw new SocketUnusable(path, `Cannot create a socket at ${path} (${failure.code}).`);
}

/** Throws SocketUnusable if no socket can be at this path. */
export function checkSocketPath(path: string): void {
  if (process.platform === 'win32')
    throw new SocketUnusable(path, 'Unix sockets are not supported on Windows.');
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    const message = `The path of a socket has at most ${pathBytesMax} bytes; ${path} has ${bytes}.`;
    throw new SocketUnusable(path, message);
  }
  checkFolder(path, dirname(path));
}

/** A user who can rename files in the folder could replace the socket. */
function checkFolder(path: string, folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) throw new SocketUnusable(path, `The folder ${folder} does not exist.`);
  const { mode, uid } = found;
  if (uid !== process.getuid?.() && uid !== 0) {
    throw new SocketUnusable(path, `${folder} belongs to another user, who could put a socket there.`);
  }
  // In a sticky folder such as /tmp, users cannot rename files of others.
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
    throw new SocketUnusable(path, `${folder} is writable by others; run: chmod go-w ${folder}`);
  }
}

/** A stale socket; undefined if there is none. */
async function leftBehind(path: string): Promise<Stats | undefined> {
  const found = look(path);
  if (found === undefined) return undefined;
  if (!found.isSocket()) {
    throw new SocketUnusable(path, `${path} exists and is not a socket; it is left unchanged.`);
  }
  const code = await knock(path);
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return found;
  if (code === 'EACCES') throw new SocketUnusable(path, `${path} is a socket of another user.`);
  throw socketInUse(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SocketUnusable(path, `${path} is a stale socket that cannot be removed (${code}).`);
  }
}

function socketInUse(path: string): SocketUnusable {
  return new SocketUnusable(path, `The socket ${path} is in use`, { isTaken: true });
}

/** The result of connecting: undefined if a process listens, otherwise the system's error code. */
function knock(path: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ path }, () => resolve(undefined));
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
  return promise.finally(() => socket.destroy());
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isSame(one: Stats, other: Stats | undefined): boolean {
  return one.ino === other?.ino && one.ctimeMs === other.ctimeMs;
}

/** No other user can connect at any moment: the file is created for its owner alone and gets its mode afterwards. */
async function bindFor(
  server: Server,
  path: string,
  access: SocketAccess,
): Promise<NodeJS.ErrnoException | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
  server.once('error', resolve);
  const usual = process.umask(0o077);
  // The file exists when this returns; `listening` comes later.
  server.listen({ path }, () => resolve(undefined));
  process.umask(usual);
  if (look(path)?.isSocket() && server.listening) chmodSync(path, modes[access]);
  const failure = await promise;
  server.off('error', resolve);
  return failure;
}
