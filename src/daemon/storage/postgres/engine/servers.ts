import pg from 'pg';
import { serverAddresses } from '../../../../shared/storage/database-url.ts';
import { whenLate } from '../../../runtime/when-late.ts';
import { connectionLost, isConnectionLost, PostgresError } from './errors.ts';
import type { ServerFailure } from './messages.ts';
import { accessTo } from './server-access.ts';
import type { WireConnection } from './wire-queries.ts';

/** What connections are opened with. */
export interface SessionOptions {
  /** Shown in `pg_stat_activity`. */
  name: string;
  /** Settings of the session, such as `statement_timeout`. */
  settings: Readonly<Record<string, string | number>>;
}

/**
 * The servers that the address of a database names: a primary and its standbys, in any order. All connections use the same one, the
 * first that accepts writes, until it fails and another one does; those that are still open to the previous one are closed then.
 */
export class DatabaseServers {
  #url: string;
  #addresses: readonly string[];
  readonly #open = new Map<WireConnection['stream'], number>();
  readonly #onUse: (host: string) => void;
  readonly #readAgain: () => Promise<string>;
  #current = 0;

  /**
   * The address as `storage.url` has it, and what reads it again when no server of it accepts a connection: a password may have been
   * changed. `onUse` is told the host and port of the server of each new connection.
   */
  constructor(
    url: string,
    onUse: (host: string) => void = () => {},
    readAgain: () => Promise<string> = async () => url,
  ) {
    this.#url = url;
    this.#addresses = serverAddresses(url);
    this.#onUse = onUse;
    this.#readAgain = readAgain;
  }

  /** Opens a connection. Rejects with `PostgresError`. */
  async connect(options: SessionOptions): Promise<pg.Client> {
    const used = this.#current;
    const failures: ServerFailure[] = [];
    for (const at of this.#inOrder()) {
      let client: pg.Client;
      try {
        client = await connectTo(this.#addresses[at] ?? '', options);
      } catch (error) {
        failures.push(serverFailure(error));
        continue;
      }
      if (this.#current === used || this.#current === at) {
        this.#use(at, client);
        return client;
      }
      // Meanwhile another connection has found a server that took over from this one.
      wireOf(client).stream.destroy();
      return this.connect(options);
    }
    // What cannot be read now may be replaced just then.
    const url = await this.#readAgain().catch(() => this.#url);
    if (url === this.#url) throw new PostgresError(this.#failure(failures));
    this.#url = url;
    this.#addresses = serverAddresses(url);
    this.#current = 0;
    return this.connect(options);
  }

  /** The one in use first. */
  #inOrder(): number[] {
    const all = [...this.#addresses.keys()];
    return [...all.slice(this.#current), ...all.slice(0, this.#current)];
  }

  /** What is wrong with all of them, of which the first is in use. */
  #failure(failures: readonly ServerFailure[]): ServerFailure {
    const [first] = failures;
    if (!first || failures.length === 1)
      return first ?? { code: connectionLost, message: 'no server is named' };
    const order = this.#inOrder();
    const messages = failures.map(
      ({ message }, index) => `${this.#host(order[index])}: ${message.replace(/\.$/, '')}`,
    );
    // A wrong password, say, is not mended by another attempt, but a server that is away can come back.
    const { code } = failures.find((failure) => isConnectionLost(failure.code)) ?? first;
    return { code, message: messages.join('; ') };
  }

  #host(at = 0): string {
    return decodeURIComponent(new URL(this.#addresses[at] ?? '').host);
  }

  #use(at: number, client: pg.Client): void {
    this.#current = at;
    this.#onUse(this.#host(at));
    const { stream } = wireOf(client);
    this.#open.set(stream, at);
    stream.once('close', () => this.#open.delete(stream));
    for (const [other, server] of this.#open) if (server !== at) other.destroy();
  }
}

/** The connection inside of a client, which its types leave out. */
export function wireOf<Wire extends WireConnection>(client: pg.Client): Wire {
  return (client as unknown as { connection: Wire }).connection;
}

/** Only an error of the server has an SQLSTATE; one of the system has a name such as `EPIPE`. */
export function serverFailure(error: unknown): ServerFailure {
  const { code = connectionLost, message } = error as { code?: string; message: string };
  if (error instanceof pg.DatabaseError || error instanceof PostgresError) return { code, message };
  return { code: connectionLost, message: message || code };
}

/** Opens a connection to a server that accepts writes. */
async function connectTo(address: string, options: SessionOptions): Promise<pg.Client> {
  const { config, seconds, isTlsOptional, mustBind } = await accessTo(address);
  const open = async (more: pg.ClientConfig = {}) => {
    const client = new pg.Client({ ...config, application_name: options.name, keepAlive: true, ...more });
    // A statement that runs fails with the connection.
    client.on('error', () => {});
    const late = Promise.withResolvers<never>();
    const stopWaiting = whenLate(seconds * 1000, () =>
      late.reject(new Error(`the server did not answer within ${seconds} s`)),
    );
    try {
      await Promise.race([prepare(client, options, mustBind), late.promise]);
      return client;
    } catch (error) {
      wireOf(client).stream.destroy();
      throw error;
    } finally {
      stopWaiting();
    }
  };
  if (!isTlsOptional) return open();
  return open().catch((error: Error) => {
    if (!error.message.includes('does not support SSL')) throw error;
    return open({ ssl: false });
  });
}

/** Ends the connection where the password would go to a server that has not bound it, whatever it has said before. */
function requireBinding(wire: WireConnection): { isRefused: boolean; isProven: boolean } {
  const binding = { isRefused: false, isProven: false };
  const refuse = () => {
    binding.isRefused = true;
    wire.stream.destroy();
  };
  wire.on('authenticationSASL', ({ mechanisms }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();
  });
  for (const asked of ['authenticationCleartextPassword', 'authenticationMD5Password'] as const)
    wire.on(asked, refuse);
  // What is wrong in it fails the connection.
  wire.on('authenticationSASLFinal', () => {
    binding.isProven = true;
  });
  return binding;
}

/**
 * Connects. Settings are not part of the start, where poolers refuse or ignore them (pgbouncer/pgbouncer#525, goauthentik/authentik#19939),
 * and an address can have options of its own (neondatabase/neon#6291). Rejects for a standby, which may show old data; any server of the
 * address may have become one since the last connection.
 */
async function prepare(client: pg.Client, { settings }: SessionOptions, mustBind: boolean): Promise<void> {
  const wire = wireOf(client);
  const bound = mustBind ? requireBinding(wire) : undefined;
  const error = await client.connect().then(
    () => undefined,
    (reason: Error) => reason,
  );
  if (bound?.isRefused || (bound?.isProven === false && error === undefined))
    throw new Error('channel binding is required, but the server does not ask for it');
  if (error) throw error;
  const set = Object.entries(settings).map(
    ([name, value]) => `, set_config('${name}', ${client.escapeLiteral(String(value))}, false)`,
  );
  const { rows } = await client.query<{ is_standby: boolean }>(
    `SELECT pg_is_in_recovery() AS is_standby${set.join('')}`,
  );
  if (!rows[0]?.is_standby) return;
  // The code of a server that is starting, as it can become the primary server at any time.
  throw new PostgresError({ code: '57P03', message: 'it is a standby, which accepts no writes' });
}
