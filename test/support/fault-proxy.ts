import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Where a COMMIT gets lost: on its way to the server, or its answer on the way back. */
export type CommitCut = 'before' | 'after';

/** What happens at a COMMIT of the connection that writes. */
interface CommitFault {
  where: CommitCut;
  isFreeze: boolean;
  done: () => void;
}

/** A connection to a PostgreSQL server that fails as it is told to. */
export interface FaultProxy {
  /** On loopback. */
  port: number;
  /** The address of a database, through the proxy. */
  through(url: string): string;
  /** Takes new connections to another server. */
  moveTo(url: string): void;
  /** How long each piece takes, in milliseconds, in both directions. */
  delayMs: number;
  /** Cuts the next COMMIT of the connection that writes; resolves once it did. */
  cutCommit(where: CommitCut): Promise<void>;
  /** Freezes before the next COMMIT of the connection that writes; resolves once it did. */
  freezeAtCommit(): Promise<void>;
  /** Resets all connections. */
  cut(): void;
  /** Passes nothing on, and keeps all connections open, as a network that is gone. */
  freeze(): void;
  /** Ends `freeze`. Connections that lost something are reset. */
  thaw(): void;
  close(): Promise<void>;
}

/** A proxy on a free port of loopback. The server listens on TCP there. */
export async function startFaultProxy(serverUrl: string): Promise<FaultProxy> {
  let serverPort = Number(new URL(serverUrl).port);
  const links = new Set<Link>();
  let armed: CommitFault | undefined;
  let isFrozen = false;
  const proxy = { delayMs: 0 };

  const takeCut = (where: CommitCut): boolean => {
    if (armed?.where !== where) return false;
    const { isFreeze, done } = armed;
    armed = undefined;
    if (isFreeze) isFrozen = true;
    done();
    return !isFreeze;
  };
  const server = createServer({ noDelay: true }, (client) => {
    const link = new Link(client, serverPort, {
      delayMs: () => proxy.delayMs,
      isFrozen: () => isFrozen,
      isCommitCut: takeCut,
    });
    links.add(link);
    client.once('close', () => links.delete(link));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const link of links) link.cut();
  };
  return Object.assign(proxy, {
    port,
    through: (url: string) => url.replace(`:${serverPort}/`, `:${port}/`),
    moveTo: (url: string) => {
      serverPort = Number(new URL(url).port);
    },
    cutCommit: (where: CommitCut) =>
      new Promise<void>((done) => {
        armed = { where, isFreeze: false, done };
      }),
    freezeAtCommit: () =>
      new Promise<void>((done) => {
        armed = { where: 'before', isFreeze: true, done };
      }),
    cut,
    freeze: () => {
      isFrozen = true;
    },
    thaw: () => {
      isFrozen = false;
      for (const link of links) if (link.hasLost) link.cut();
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

interface Faults {
  delayMs(): number;
  isFrozen(): boolean;
  /** Whether the COMMIT that passes is to be cut here. */
  isCommitCut(where: CommitCut): boolean;
}

/** The tag of a completed COMMIT, as the server sends it. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1');

/** One connection of a client, and its connection to the server. */
class Link {
  /** Whether something was not passed on. */
  hasLost = false;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #requests = new Requests();

  constructor(client: Socket, port: number, faults: Faults) {
    this.#client = client;
    this.#server = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#pass(client, this.#server, faults, (piece) => {
      const commits = this.#requests.take(piece);
      return commits && this.#requests.isWriter && faults.isCommitCut('before');
    });
    // The tag may come in two pieces, and is in none of the values that tests write.
    let last = Buffer.alloc(0);
    this.#pass(this.#server, client, faults, (piece) => {
      const text = Buffer.concat([last, piece]);
      last = text.subarray(-committed.length + 1);
      return text.includes(committed) && this.#requests.isWriter && faults.isCommitCut('after');
    });
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  #pass(from: Socket, to: Socket, faults: Faults, isCut: (piece: Buffer) => boolean): void {
    let previous: Promise<void> = Promise.resolve();
    from.on('error', () => to.destroy());
    from.on('close', () => {
      // What has gone wrong on a frozen link is not noticed on the other side.
      if (!faults.isFrozen()) previous.then(() => to.destroy());
    });
    from.on('data', (piece: Buffer) => {
      if (isCut(piece)) return this.cut();
      const delayMs = faults.delayMs();
      previous = previous.then(async () => {
        if (delayMs > 0) await wait(delayMs);
        if (faults.isFrozen()) this.hasLost = true;
        else if (!this.hasLost) to.write(piece);
      });
    });
  }
}

/** What a client of PostgreSQL sends. Source: "Message Formats" in the manual of PostgreSQL. */
class Requests {
  /** Whether the connection is the one that writes. */
  isWriter = false;
  #hasStarted = false;
  #received: Buffer = Buffer.alloc(0);
  readonly #commits = new Set<string>();

  /** Whether this piece contains a COMMIT. */
  take(piece: Buffer): boolean {
    this.#received = Buffer.concat([this.#received, piece]);
    let commits = false;
    for (;;) {
      // The first message has no type.
      const lengthAt = this.#hasStarted ? 1 : 0;
      if (this.#received.length < lengthAt + 4) return commits;
      const end = lengthAt + this.#received.readUInt32BE(lengthAt);
      if (this.#received.length < end) return commits;
      const type = this.#hasStarted ? String.fromCharCode(this.#received[0] ?? 0) : 'startup';
      const texts = this.#received.toString('latin1', lengthAt + 4, end).split('\0');
      commits = this.#isCommit(type, texts) || commits;
      this.#received = this.#received.subarray(end);
      this.#hasStarted = true;
    }
  }

  #isCommit(type: string, [first = '', second = '', ...more]: string[]): boolean {
    if (type === 'startup') this.isWriter = more.includes('gateway writes');
    if (type === 'Q') return first === 'COMMIT';
    if (type === 'B') return this.#commits.has(second);
    if (type === 'P') {
      if (second === 'COMMIT') this.#commits.add(first);
      else this.#commits.delete(first);
    }
    return false;
  }
}
