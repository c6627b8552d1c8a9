import { once } from 'node:events';
import type pg from 'pg';
import { PostgresError } from './errors.ts';
import { DatabaseServers, serverFailure, wireOf } from './servers.ts';
import type { WireConnection } from './wire-queries.ts';

/** The part of `pg`'s connection that copies use. */
interface CopyWire extends WireConnection {
  stream: WireConnection['stream'] & NodeJS.WritableStream & { writableNeedDrain: boolean };
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** A connection that copies whole tables. One statement at a time; without time limits. */
export class CopyConnection {
  readonly #client: pg.Client;
  readonly #wire: CopyWire;

  /** Rejects with `PostgresError`. */
  static async open(url: string): Promise<CopyConnection> {
    const client = await new DatabaseServers(url).connect({
      name: 'gateway copy',
      settings: { search_path: 'gateway', statement_timeout: 0, idle_in_transaction_session_timeout: 0 },
    });
    return new CopyConnection(client);
  }

  constructor(client: pg.Client) {
    this.#client = client;
    this.#wire = wireOf(client);
  }

  /** The rows of one statement; integers of 64 bits are texts. Without values, several statements can be run. */
  async query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    try {
      return (await this.#client.query(sql, values.length > 0 ? [...values] : undefined)).rows;
    } catch (error) {
      throw new PostgresError(serverFailure(error));
    }
  }

  /** Passes on the lines of `COPY … TO STDOUT`; `take` must be done when it returns. */
  async copyOut(sql: string, take: (lines: Buffer) => void): Promise<void> {
    await this.#run(new CopyOut(sql, take)).done;
  }

  /** Runs `COPY … FROM STDIN` with what `feed` writes. */
  async copyIn(sql: string, feed: (write: (lines: Buffer) => Promise<void>) => Promise<void>): Promise<void> {
    const wire = this.#wire;
    const copy = this.#run(new CopyIn(sql));
    await Promise.race([copy.ready, copy.done]);
    try {
      await feed(async (lines) => {
        if (copy.failure) throw copy.failure;
        wire.sendCopyFromChunk(lines);
        if (wire.stream.writableNeedDrain) await Promise.race([once(wire.stream, 'drain'), copy.done]);
      });
    } catch (error) {
      wire.sendCopyFail('the copy was stopped');
      await copy.done.catch(() => {});
      throw error;
    }
    wire.endCopyFrom();
    await copy.done;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }

  #run<Copy extends CopyQuery>(copy: Copy): Copy {
    this.#client.query(copy as unknown as pg.Submittable);
    return copy;
  }
}

/** A query by the calls that `pg`'s client makes for each message of the server. */
abstract class CopyQuery {
  readonly done: Promise<void>;
  failure: Error | undefined;
  readonly #sql: string;
  readonly #end = Promise.withResolvers<void>();

  constructor(sql: string) {
    this.#sql = sql;
    this.done = this.#end.promise;
    // It may fail before it is awaited.
    this.done.catch(() => {});
  }

  submit(wire: WireConnection): Error | null {
    wire.query(this.#sql);
    return null;
  }

  handleError(error: Error): void {
    this.failure ??= new PostgresError(serverFailure(error));
    // Without a connection, nothing else comes.
    if (!('severity' in error)) this.handleReadyForQuery();
  }

  handleReadyForQuery(): void {
    if (this.failure) this.#end.reject(this.failure);
    else this.#end.resolve();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(_message: { chunk: Buffer }): void {}
}

/** Lines are passed on together. */
const chunkBytes = 64 * 1024;

class CopyOut extends CopyQuery {
  readonly #take: (lines: Buffer) => void;
  #lines: Buffer[] = [];
  #bytes = 0;

  constructor(sql: string, take: (lines: Buffer) => void) {
    super(sql);
    this.#take = take;
  }

  override handleCopyData({ chunk }: { chunk: Buffer }): void {
    // The next message overwrites it.
    this.#lines.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes >= chunkBytes) this.#flush();
  }

  override handleReadyForQuery(): void {
    this.#flush();
    super.handleReadyForQuery();
  }

  /** The rest of the rows is received after a failure, and dropped. */
  #flush(): void {
    const lines = Buffer.concat(this.#lines);
    this.#lines = [];
    this.#bytes = 0;
    if (this.failure || lines.length === 0) return;
    try {
      this.#take(lines);
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
    }
  }
}

class CopyIn extends CopyQuery {
  readonly ready: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();

  constructor(sql: string) {
    super(sql);
    this.ready = this.#ready.promise;
  }

  override handleCopyInResponse(): void {
    this.#ready.resolve();
  }
}
