import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Connection } from '../../sqlite/engine/connection.ts';
import { connectionLost, isConnectionLost, PostgresError } from './errors.ts';
import type { FromServer, ServerChannel, Step, StepResult, ToServer, Value } from './messages.ts';
import { type NumberedSql, numberParameters } from './placeholders.ts';

/** Statements whose result nobody reads are sent with the next one that is, but not more than this together. */
const pendingMax = 512;
/** Rows that an iteration fetches at once. */
const fetchedRows = 1000;
/** Texts of queries that depend on their values are sent each time, as are all beyond this number. */
const statementsMax = 5000;

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
  // One that only reads is opened for its first statement, which can fail alone: its thread may start while the server is away.
  if (!options.isRenewed) connection.reconnect();
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
  readonly #statements = new Map<string, Statement>();
  #pending: Deferred[] = [];
  readonly #isRenewed: boolean;
  #isLost: boolean;
  /** Whether the server has an open transaction, as of its last answer. */
  #isOpen = false;
  #inTransaction = false;
  /** Savepoints of the running transaction. */
  #savepoints = 0;
  #lastPortal = 0;

  constructor({ port, answers }: ServerChannel, { isRenewed = false }: ConnectionOptions = {}) {
    this.#isRenewed = isRenewed;
    this.#isLost = isRenewed;
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
    return new PostgresStatement(this, this.#statementOf(sql));
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
      this.#control(isNested ? 'SAVEPOINT nested' : 'BEGIN');
      let result: Result;
      try {
        result = work(...args);
        this.flush();
      } catch (error) {
        if (this.#inTransaction) this.exec(isNested ? 'ROLLBACK TO nested; RELEASE nested' : 'ROLLBACK');
        throw error;
      }
      this.#control(isNested ? 'RELEASE nested' : 'COMMIT');
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

  /** Adds a statement whose result is not needed yet; returns a function that waits for it, the number of changed rows. */
  defer(statement: Statement, values: readonly Value[]): () => number {
    const { command } = statement;
    const deferred: Deferred = { statement, values, isSilent: true };
    if (command === 'BEGIN') this.#inTransaction = true;
    if (command === 'SAVEPOINT') this.#savepoints += 1;
    // An operation that can fail alone has to know at each statement whether it has; others at the end of the transaction.
    const isAwaited = !this.#inTransaction || this.#savepoints > 0 || command === 'COMMIT';
    if (command === 'RELEASE') this.#savepoints -= 1;
    if (isAwaited) this.#send([deferred]);
    else if (this.#pending.push(deferred) >= pendingMax) this.flush();
    return () => {
      if (deferred.result === undefined) this.flush();
      if (deferred.result === undefined) throw new Error('the statement was rolled back');
      return deferred.result as number;
    };
  }

  /** Sends a statement, after those that wait; without one, asks for the rest of what a portal returns. */
  read(statement: Statement | undefined, values: readonly Value[], page: Page = {}): StepResult {
    const deferred: Deferred = { statement, values, ...page };
    this.#send([deferred]);
    return deferred.result as StepResult;
  }

  /** The rows of a statement, of which not all are kept in memory. */
  *iterate(
    statement: Statement,
    values: readonly Value[],
  ): Generator<{ columns: string[]; row: StepResult['rows'][number] }> {
    const ownTransaction = !this.#inTransaction;
    if (ownTransaction) this.exec('BEGIN');
    this.#lastPortal += 1;
    const portal = `p${this.#lastPortal}`;
    const page = { portal, limit: fetchedRows };
    try {
      let columns: string[] | undefined;
      for (let result = this.read(statement, values, page); ; result = this.read(undefined, [], page)) {
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
    const { results } = this.#ask({ steps: sent.map(stepOf) });
    for (const [index, deferred] of sent.entries()) {
      deferred.result = results[index];
      if (deferred.statement) deferred.statement.isKnown = true;
    }
  }

  #control(sql: string): void {
    this.defer(this.#statementOf(sql), []);
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

  #statementOf(text: string): Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const command = /^(BEGIN|COMMIT|RELEASE|ROLLBACK|SAVEPOINT)\b/.exec(text)?.[1];
    const statement: Statement = { ...numberParameters(text), command };
    if (this.#statements.size < statementsMax) {
      statement.number = this.#statements.size;
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

interface Statement extends NumberedSql {
  /** Of a statement that begins or ends a transaction or a part of one. */
  command: string | undefined;
  /** Undefined if its text is sent each time. */
  number?: number;
  /** Whether the other thread has answered it, and so knows its text by its number. */
  isKnown?: boolean;
}

type Page = Pick<Step, 'limit' | 'portal'>;

/** A statement that is not sent yet, or its result. */
interface Deferred extends Pick<Step, 'values' | 'isSilent' | 'limit' | 'portal'> {
  statement: Statement | undefined;
  /** The number of changed rows of a silent one. */
  result?: StepResult | number | undefined;
}

/** The step to be sent, with the text of its statement unless the other thread knows it. */
function stepOf({ statement, result: _, ...step }: Deferred): Step {
  if (statement === undefined) return step;
  const { sql, number, isKnown } = statement;
  if (number === undefined) return { ...step, sql };
  return isKnown ? { ...step, statement: number } : { ...step, statement: number, sql };
}

type Row = StepResult['rows'][number];
/** Values by position, also in one array, and values by name. */
type Parameters = readonly (Value | readonly Value[] | Readonly<Record<string, Value>>)[];

/** A statement with the interface of better-sqlite3. */
class PostgresStatement {
  readonly #connection: PostgresConnection;
  readonly #statement: Statement;
  #form: 'object' | 'pluck' | 'raw' = 'object';

  constructor(connection: PostgresConnection, statement: Statement) {
    this.#connection = connection;
    this.#statement = statement;
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
    const changes = this.#connection.defer(this.#statement, this.#values(parameters));
    return {
      get changes() {
        return changes();
      },
    };
  }

  get(...parameters: Parameters): unknown {
    const { columns, rows } = this.#connection.read(this.#statement, this.#values(parameters), { limit: 1 });
    return rows[0] && this.#formed(columns, rows[0]);
  }

  all(...parameters: Parameters): unknown[] {
    const { columns, rows } = this.#connection.read(this.#statement, this.#values(parameters));
    return rows.map((row) => this.#formed(columns, row));
  }

  *iterate(...parameters: Parameters): Generator<unknown> {
    for (const { columns, row } of this.#connection.iterate(this.#statement, this.#values(parameters)))
      yield this.#formed(columns, row);
  }

  #values(given: Parameters): Value[] {
    const { sql, names } = this.#statement;
    const parameters = given.flat() as (Value | Readonly<Record<string, Value>>)[];
    const named = parameters.find(isNamed) ?? {};
    const positional = parameters.filter((value) => !isNamed(value)) as Value[];
    let position = 0;
    return names.map((name) => {
      const value = name === undefined ? positional[position++] : named[name];
      if (value === undefined) throw new RangeError(`no value for parameter ${name ?? position} of ${sql}`);
      return value;
    });
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
