import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type ChildDaemon, startChildDaemon } from './child-daemon.ts';
import type { PostgresServer } from './postgres.ts';

/** Daemons on one database, each with a data folder of its own. */
export class SeveralDaemons {
  /** Of the database that `rows` reads; another one after a failover. */
  url: string;
  readonly daemons: ChildDaemon[] = [];
  readonly #config: string;
  readonly #env: Record<string, string>;
  /** What all daemons of a database share besides it. */
  readonly #secrets = {
    'data-key': randomBytes(32).toString('base64url'),
    'master-key': randomBytes(32).toString('base64'),
  };
  #client: Promise<pg.Client> | undefined;
  readonly #environments = new Map<string, Record<string, string>>();

  private constructor(url: string, options: SeveralOptions) {
    this.url = url;
    this.#config = options.config;
    this.#env = options.env ?? {};
  }

  /** Starts one, then the others together. The caller removes them. */
  static async start(
    server: PostgresServer,
    options: SeveralOptions & { count: number; reach?: (url: string, at: number) => string },
  ): Promise<SeveralDaemons> {
    const url = await server.newDatabase();
    const several = new SeveralDaemons(url, options);
    try {
      const add = (at: number) => several.#add(options.reach?.(url, at) ?? url);
      several.daemons.push(await add(0));
      const others = Array.from({ length: options.count - 1 }, (_, at) => add(at + 1));
      for (const started of await Promise.allSettled(others)) {
        if (started.status === 'rejected') throw started.reason;
        several.daemons.push(started.value);
      }
    } catch (error) {
      await several.remove();
      throw error;
    }
    return several;
  }

  /** The key and the login of the first daemon, with the address of another one or of a proxy. */
  at(url: string): { url: string; key: string; login: string } {
    const { key, login } = this.daemon(0);
    return { url, key, login };
  }

  daemon(at: number): ChildDaemon {
    const daemon = this.daemons[at];
    if (!daemon) throw new RangeError(`there is no daemon ${at}`);
    return daemon;
  }

  /** The paths of their Unix sockets, which stay the same when one is started again. */
  sockets(): string[] {
    return this.daemons.map(({ home }) => join(home, 'gateway.sock'));
  }

  /** Starts one again that has ended. */
  async restart(at: number): Promise<ChildDaemon> {
    const { home } = this.daemon(at);
    this.daemons[at] = await startChildDaemon({ home, env: this.#environments.get(home) ?? {} });
    return this.daemon(at);
  }

  /** Rows of the database. */
  async rows(sql: string): Promise<Record<string, unknown>[]> {
    this.#client ??= connect(this.url, () => {
      this.#client = undefined;
    });
    return (await (await this.#client).query(sql)).rows;
  }

  /** The number in the first column of the first row. */
  async count(sql: string): Promise<number> {
    const [row = {}] = await this.rows(sql);
    return Number(Object.values(row)[0]);
  }

  async remove(): Promise<void> {
    await this.#client?.then((client) => client.end()).catch(() => {});
    const removed = await Promise.allSettled(this.daemons.map((daemon) => daemon.remove()));
    const failed = removed.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  async #add(address: string): Promise<ChildDaemon> {
    const home = await mkdtemp(join(tmpdir(), 'gateway-several-'));
    for (const [name, secret] of Object.entries(this.#secrets))
      await writeFile(join(home, name), `${secret}\n`, { mode: 0o600 });
    const env = {
      ...this.#env,
      GATEWAY_STORAGE_URL: address,
      GATEWAY_MASTER_KEY_FILE: join(home, 'master-key'),
    };
    this.#environments.set(home, env);
    const config = `listen: {socket: gateway.sock, trusted_proxies: [unix], public_url: "https://gateway.example.org"}\n${this.#config}`;
    return await startChildDaemon({ home, config, env });
  }
}

interface SeveralOptions {
  /** Text of config.yaml, without `listen`. */
  config: string;
  env?: Record<string, string>;
}

async function connect(url: string, onLost: () => void): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=gateway' });
  client.once('error', onLost);
  await client.connect().catch((error: unknown) => {
    onLost();
    throw error;
  });
  return client;
}
