import type pg from 'pg';
import { whenLate } from '../../../runtime/when-late.ts';
import { connectionLost } from './errors.ts';
import type { FromServer, ServerChannel, ServerFailure, Step, ToServer } from './messages.ts';
import { type DatabaseServers, type SessionOptions, serverFailure, wireOf } from './servers.ts';
import { PreparedStatements, ScriptQuery, StepsQuery, type WireConnection } from './wire-queries.ts';

export interface ConnectionOptions extends SessionOptions {
  servers: DatabaseServers;
  /** The connection counts as lost if an answer takes longer than this. */
  answerMs: number;
}

/** Serves the messages of one thread over one connection, which `connect` opens, also after it was lost. */
export function serveConnection({ port, answers }: ServerChannel, options: ConnectionOptions): void {
  const counter = new Int32Array(answers);
  let session: Session | undefined;
  const texts = new Map<number, string>();
  let previous: Promise<void> = Promise.resolve();

  const withText = (step: Step): Step => {
    const { statement, sql } = step;
    if (statement === undefined) return step;
    if (sql === undefined) return { ...step, sql: texts.get(statement) };
    texts.set(statement, sql);
    return step;
  };

  const answer = async (message: ToServer): Promise<FromServer> => {
    if ('connect' in message) {
      session?.destroy();
      session = undefined;
      try {
        session = await Session.open(options);
        return { results: [], inTransaction: false };
      } catch (error) {
        return { results: [], failure: serverFailure(error), inTransaction: false };
      }
    }
    const failure = { code: connectionLost, message: 'the connection is not open' };
    const query = 'steps' in message ? { steps: message.steps.map(withText) } : message;
    return (await session?.run(query)) ?? { results: [], failure, inTransaction: false };
  };

  port.on('message', (message: ToServer) => {
    previous = previous.then(async () => {
      port.postMessage(await answer(message));
      Atomics.add(counter, 0, 1);
      Atomics.notify(counter, 0);
    });
  });
  port.on('close', () => session?.close());
}

class Session {
  readonly #client: pg.Client;
  readonly #wire: WireConnection;
  readonly #answerMs: number;
  readonly #prepared = new PreparedStatements();
  #lost: ServerFailure | undefined;
  #onReady: (() => void) | undefined;
  #status = 'I';

  static async open({ servers, answerMs, ...options }: ConnectionOptions): Promise<Session> {
    return new Session(await servers.connect(options), answerMs);
  }

  constructor(client: pg.Client, answerMs: number) {
    this.#client = client;
    this.#answerMs = answerMs;
    this.#wire = wireOf(client);
    this.#wire.on('readyForQuery', ({ status }) => {
      this.#status = status;
      this.#onReady?.();
    });
    client.on('error', (error) => this.#lose(error.message));
    client.on('end', () => this.#lose('the server closed the connection'));
    if (this.#wire.stream.destroyed) this.#lose('the server closed the connection');
  }

  async run(message: { steps: readonly Step[] } | { script: string }): Promise<FromServer> {
    const query =
      'steps' in message ? new StepsQuery(message.steps, this.#prepared) : new ScriptQuery(message.script);
    if (!this.#lost) {
      const stopWaiting = whenLate(this.#answerMs, () => this.#lose('the server does not answer'));
      await new Promise<void>((resolve) => {
        this.#onReady = resolve;
        this.#client.query(query as unknown as pg.Submittable);
      });
      stopWaiting();
      this.#onReady = undefined;
    }
    const failure = this.#lost ?? query.failure;
    return {
      results: query.results,
      ...(failure && { failure }),
      inTransaction: !this.#lost && this.#status !== 'I',
    };
  }

  close(): void {
    this.#client.end().catch(() => {});
  }

  /** Without a goodbye, which would wait for the server. */
  destroy(): void {
    this.#client.removeAllListeners();
    this.#client.on('error', () => {});
    this.#wire.stream.destroy();
  }

  #lose(message: string): void {
    this.#lost ??= { code: connectionLost, message };
    this.destroy();
    this.#onReady?.();
  }
}
