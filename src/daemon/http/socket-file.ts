import { chmodSync, lstatSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';

/** Of the path of a socket, in bytes, without the zero that ends it. Source: `sun_path` of unix(7), and of macOS. */
const pathBytesMax = process.platform === 'darwin' ? 103 : 107;

/** A Unix socket cannot be listened on; the message says why. */
export class SocketUnusable extends Error {
  readonly path: string;
  /** Whether somebody listens there. */
  readonly isTaken: boolean;

  constructor(path: string, message: string, { isTaken = false }: { isTaken?: boolean } = {}) {
    super(message);
    this.name = 'SocketUnusable';
    this.path = path;
    this.isTaken = isTaken;
  }
}

/** Who may connect to a socket: the user who runs the daemon, or the group of its file, too. */
export type SocketAccess = 'owner' | 'group';

const modes: Record<SocketAccess, number> = { owner: 0o600, group: 0o660 };

/**
 * Listens on a Unix socket. A file that a killed daemon left there gives way; anything else stays, and SocketUnusable is
 * thrown. The file goes when the server is closed.
 */
export async function listenOnSocketFile(server: Server, path: string, access: SocketAccess): Promise<void> {
  checkPath(path);
  const left = await leftBehind(path);
  // Nothing is awaited until it is bound: two daemons that find the same file do not take each other's.
  if (left !== undefined && isSame(left, look(path))) remove(path);
  const failure = await bindFor(server, path, access);
  if (failure === undefined) return;
  if (failure.code === 'EADDRINUSE') throw taken(path);
  throw new SocketUnusable(path, `A socket cannot be made at ${path} (${failure.code}).`);
}

function checkPath(path: string): void {
  if (process.platform === 'win32') throw new SocketUnusable(path, 'There are no Unix sockets on Windows.');
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    const message = `The path of a socket has at most ${pathBytesMax} bytes, and ${path} has ${bytes}.`;
    throw new SocketUnusable(path, message);
  }
  checkFolder(path, dirname(path));
}

/** Whoever may rename files of the folder could put a socket of their own in the place of this one. */
function checkFolder(path: string, folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) throw new SocketUnusable(path, `There is no folder ${folder}.`);
  const { mode, uid } = found;
  if (uid !== process.getuid?.() && uid !== 0) {
    throw new SocketUnusable(path, `${folder} belongs to another user, who could put a socket there.`);
  }
  // In a sticky folder, as /tmp is one, nobody renames what is not theirs.
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) {
    throw new SocketUnusable(path, `${folder} can be written by others; run: chmod go-w ${folder}`);
  }
}

/** The socket that nobody listens on any more; undefined where there is nothing. */
async function leftBehind(path: string): Promise<Stats | undefined> {
  const found = look(path);
  if (found === undefined) return undefined;
  if (!found.isSocket()) {
    throw new SocketUnusable(path, `${path} is there already, and is no socket: it is left as it is.`);
  }
  const code = await knock(path);
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return found;
  if (code === 'EACCES') throw new SocketUnusable(path, `${path} is a socket of another user.`);
  throw taken(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SocketUnusable(path, `Nobody listens at ${path} any more, but it cannot be removed (${code}).`);
  }
}

function taken(path: string): SocketUnusable {
  return new SocketUnusable(path, `The socket ${path} is in use`, { isTaken: true });
}

/** What connecting comes to: undefined where somebody listens, else the code of the system. */
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

/** Nobody else can connect at any moment: the file is made for its owner alone, whatever mode it gets then. */
async function bindFor(
  server: Server,
  path: string,
  access: SocketAccess,
): Promise<NodeJS.ErrnoException | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
  server.once('error', resolve);
  const usual = process.umask(0o077);
  // The file is there when this returns; `listening` comes later.
  server.listen({ path }, () => resolve(undefined));
  process.umask(usual);
  if (look(path)?.isSocket() && server.listening) chmodSync(path, modes[access]);
  const failure = await promise;
  server.off('error', resolve);
  return failure;
}
