import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Connection } from '../../sqlite/engine/connection.ts';
import { connectionLost, isConnectionLost, PostgresError } from './errors.ts';
import type { FromServer, ServerChannel, Step, StepResult, ToServer, Value } from './messages.ts';
import { type NumberedSql, numberParameters } from './placeholders.ts';

/** Statements whose result nobody reads are sent with the next one that is, but not more than this together. */
const pendingMax = 512;
/** Rows that an iteration fetches at once. */
const fetchedRows = 1000;

interface ConnectionOptions {
  /** For connections that only read: whether a lost one is opened again. */
  isRenewed?: boolean;
}

/**
 * A connection to the server with the interface of better-sqlite3, so that one source of stores serves both engines. It blocks
 * its thread until the server has answered; never use it in the main thread. Statements that only change data wait for the
 * next result that is read, or for the end of the transaction, and are sent together.
 */
export function openConnection(channel: ServerChannel, options: ConnectionOptions = {}): PostgresConnection {
  const connection = new PostgresConnection(channel, options);
  connection.reconnect();
  return connection;
}

/** The same under the type that stores expect. */
export function asSqliteConnection(connection: PostgresConnection): Connection {
  return connection as unknown as Connection;
}

export class PostgresConnection {
  readonly name = 'the database';
  readonly #port: MessagePort;
  readonly #answers: Int32Array;
  readonly #numbered = new Map<string, NumberedSql>();
  #pending: Deferred[] = [];
  readonly #isRenewed: boolean;
  #isLost = false;
  /** Whether the server has an open transaction, as of its last answer. */
  #isOpen = false;
  #inTransaction = false;
  /** Savepoints of the running transaction. */
  #savepoints = 0;
  #lastPortal = 0;

  constructor({ port, answers }: ServerChannel, { isRenewed = false }: ConnectionOptions = {}) {
    this.#isRenewed = isRenewed;
    this.#port = port;
    this.#answers = new Int32Array(answers);
  }

  get inTransaction(): boolean {
    return this.#inTransaction;
  }

  /** Opens the connection, or another one after it was lost. Throws `PostgresError`. */
  reconnect(): void {
    this.#pending = [];
    this.#inTransaction = false;
    this.#ask({ connect: true });
    this.#isLost = false;
  }

  prepare(sql: string): PostgresStatement {
    return new PostgresStatement(this, this.#numberedSql(sql));
  }

  exec(script: string): this {
    // What is undone need not be sent.
    if (script.startsWith('ROLLBACK')) this.#pending = [];
    this.flush();
    this.#ask({ script });
    if (script.startsWith('ROLLBACK TO')) this.#savepoints -= 1;
    return this;
  }

  /** A function that runs `work` in a transaction, or in a savepoint of the running one. */
  transaction<Args extends unknown[], Result>(work: (...args: Args) => Result) {
    const run = (...args: Args): Result => {
      const isNested = this.#inTransaction;
      this.defer(stepOf(isNested ? 'SAVEPOINT nested' : 'BEGIN'));
      let result: Result;
      try {
        result = work(...args);
        this.flush();
      } catch (error) {
        if (this.#inTransaction) this.exec(isNested ? 'ROLLBACK TO nested; RELEASE nested' : 'ROLLBACK');
        throw error;
      }
      this.defer(stepOf(isNested ? 'RELEASE nested' : 'COMMIT'));
      return result;
    };
    return Object.assign(run, { deferred: run, immediate: run, exclusive: run });
  }

  close(): void {
    this.#port.close();
  }

  /** Sends the statements that wait. */
  flush(): void {
    if (this.#pending.length > 0) this.#send([]);
  }

  /** Adds a statement whose result is not needed yet; returns a function that waits for it. */
  defer(step: Step): () => StepResult {
    const command = controlWord(step.sql);
    const deferred: Deferred = { step: { ...step, isSilent: true }, result: undefined };
    if (command === 'BEGIN') this.#inTransaction = true;
    if (command === 'SAVEPOINT') this.#savepoints += 1;
    // An operation that can fail alone has to know at each statement whether it has; others at the end of the transaction.
    const isAwaited = !this.#inTransaction || this.#savepoints > 0 || command === 'COMMIT';
    if (command === 'RELEASE') this.#savepoints -= 1;
    if (isAwaited) this.#send([deferred]);
    else if (this.#pending.push(deferred) >= pendingMax) this.flush();
    return () => {
      if (!deferred.result) this.flush();
      if (!deferred.result) throw new Error('the statement was rolled back');
      return deferred.result;
    };
  }

  /** Sends a statement, after those that wait. */
  read(step: Step): StepResult {
    const deferred: Deferred = { step, result: undefined };
    this.#send([deferred]);
    return deferred.result as unknown as StepResult;
  }

  /** The rows of a statement, of which not all are kept in memory. */
  *iterate(step: Step): Generator<{ columns: string[]; row: StepResult['rows'][number] }> {
    const ownTransaction = !this.#inTransaction;
    if (ownTransaction) this.exec('BEGIN');
    this.#lastPortal += 1;
    const portal = `p${this.#lastPortal}`;
    const page = { portal, limit: fetchedRows };
    try {
      let columns: string[] | undefined;
      for (let next: Step = { ...step, ...page }; ; next = { sql: undefined, values: [], ...page }) {
        const result = this.read(next);
        columns ??= result.columns;
        for (const row of result.rows) yield { columns, row };
        if (!result.isSuspended) break;
      }
    } finally {
      if (ownTransaction && this.#inTransaction) this.exec('COMMIT');
    }
  }

  #send(last: readonly Deferred[]): void {
    const sent = [...this.#pending, ...last];
    this.#pending = [];
    const { results } = this.#ask({ steps: sent.map(({ step }) => step) });
    for (const [index, deferred] of sent.entries()) deferred.result = results[index];
  }

  #ask(message: ToServer): FromServer {
    if (!this.#isRenewed || 'connect' in message) return this.#exchange(message);
    if (this.#isLost) this.reconnect();
    const wasOpen = this.#isOpen;
    try {
      return this.#exchange(message);
    } catch (error) {
      // The server may have closed the connection since its last answer. What is only read can be read again.
      if (!this.#isLost || wasOpen) throw error;
      this.reconnect();
      return this.#exchange(message);
    }
  }

  #exchange(message: ToServer): FromServer {
    const before = Atomics.load(this.#answers, 0);
    this.#port.postMessage(message);
    // The notification of the answer before can come this late, and would end a single wait.
    while (Atomics.load(this.#answers, 0) === before) Atomics.wait(this.#answers, 0, before);
    const received = receiveMessageOnPort(this.#port) as { message: FromServer } | undefined;
    if (!received) throw new PostgresError({ code: connectionLost, message: 'no answer was received' });
    const { message: answer } = received;
    this.#inTransaction = answer.inTransaction;
    if (!answer.inTransaction) this.#savepoints = 0;
    this.#isOpen = answer.inTransaction;
    if (answer.failure) {
      this.#isLost = isConnectionLost(answer.failure.code);
      throw new PostgresError(answer.failure);
    }
    return answer;
  }

  #numberedSql(sql: string): NumberedSql {
    let found = this.#numbered.get(sql);
    if (!found) {
      found = numberParameters(sql);
      // Queries whose text depends on their values would fill it.
      if (this.#numbered.size < 5000) this.#numbered.set(sql, found);
    }
    return found;
  }
}

/** A statement that is not sent yet, or its result. */
interface Deferred {
  step: Step;
  result: StepResult | undefined;
}

function stepOf(sql: string): Step {
  return { sql, values: [] };
}

function controlWord(sql: string | undefined): string | undefined {
  return /^(BEGIN|COMMIT|RELEASE|ROLLBACK|SAVEPOINT)\b/.exec(sql ?? '')?.[1];
}

type Row = StepResult['rows'][number];
/** Values by position, also in one array, and values by name. */
type Parameters = readonly (Value | readonly Value[] | Readonly<Record<string, Value>>)[];

/** A statement with the interface of better-sqlite3. */
class PostgresStatement {
  readonly #connection: PostgresConnection;
  readonly #numbered: NumberedSql;
  #form: 'object' | 'pluck' | 'raw' = 'object';

  constructor(connection: PostgresConnection, numbered: NumberedSql) {
    this.#connection = connection;
    this.#numbered = numbered;
  }

  pluck(): this {
    this.#form = 'pluck';
    return this;
  }

  raw(): this {
    this.#form = 'raw';
    return this;
  }

  run(...parameters: Parameters): { readonly changes: number } {
    const result = this.#connection.defer(this.#step(parameters));
    return {
      get changes() {
        return result().changes;
      },
    };
  }

  get(...parameters: Parameters): unknown {
    const { columns, rows } = this.#connection.read({ ...this.#step(parameters), limit: 1 });
    return rows[0] && this.#formed(columns, rows[0]);
  }

  all(...parameters: Parameters): unknown[] {
    const { columns, rows } = this.#connection.read(this.#step(parameters));
    return rows.map((row) => this.#formed(columns, row));
  }

  *iterate(...parameters: Parameters): Generator<unknown> {
    for (const { columns, row } of this.#connection.iterate(this.#step(parameters)))
      yield this.#formed(columns, row);
  }

  #step(given: Parameters): Step {
    const { sql, names } = this.#numbered;
    const parameters = given.flat() as (Value | Readonly<Record<string, Value>>)[];
    const named = parameters.find(isNamed) ?? {};
    const positional = parameters.filter((value) => !isNamed(value)) as Value[];
    let position = 0;
    const values = names.map((name) => {
      const value = name === undefined ? positional[position++] : named[name];
      if (value === undefined) throw new RangeError(`no value for parameter ${name ?? position} of ${sql}`);
      return value;
    });
    return { sql, values };
  }

  #formed(columns: readonly string[], row: Row): unknown {
    for (const [index, value] of row.entries()) {
      if (value instanceof Uint8Array) row[index] = Buffer.from(value.buffer, value.byteOffset, value.length);
    }
    if (this.#form === 'raw') return row;
    if (this.#form === 'pluck') return row[0];
    return Object.fromEntries(columns.map((column, index) => [column, row[index]]));
  }
}

function isNamed(value: unknown): value is Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}
