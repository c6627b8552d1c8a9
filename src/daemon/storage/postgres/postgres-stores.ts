import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../../../shared/errors.ts';
import { messageOf } from '../../../shared/message-of.ts';
import { NameTexts } from '../sqlite/engine/names.ts';
import { createOrm } from '../sqlite/engine/orm.ts';
import { type StoresContext, stores } from '../sqlite/stores.ts';
import { asSqliteConnection, openConnection } from './engine/connection.ts';
import { isConnectionLost, postgresCode } from './engine/errors.ts';
import type { ServerChannel } from './engine/messages.ts';
import type { FromStores, StoresFailure, ToStores } from './remote-stores.ts';

/** The main thread could not do what a method asked for. */
class QuestionFailed extends Error {
  readonly question: number;

  constructor(question: number) {
    super('the main thread reported a failure');
    this.question = question;
  }
}

interface StoresData {
  channel: ServerChannel;
  /** The number of this daemon. */
  daemon: number;
}

/** Asks the main thread, which has the writer and the readers of many rows. */
class Questions {
  readonly #port: MessagePort;
  readonly #open = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  ask(ask: 'write' | 'read' | 'check', args: unknown[]): Promise<never> {
    this.#last += 1;
    const question = this.#last;
    this.#port.postMessage({ question, ask, args } satisfies FromStores);
    return new Promise((resolve, reject) => this.#open.set(question, { resolve, reject }));
  }

  settle({ answer, result, failed }: Extract<ToStores, { answer: number }>): void {
    const question = this.#open.get(answer);
    this.#open.delete(answer);
    if (failed) question?.reject(new QuestionFailed(answer));
    else question?.resolve(result as never);
  }
}

function serveStores(port: MessagePort, { channel, daemon }: StoresData): void {
  const connection = openConnection(channel, { isRenewed: true });
  const database = asSqliteConnection(connection);
  const questions = new Questions(port);
  const context: StoresContext = {
    database,
    daemon,
    orm: createOrm(database),
    names: new NameTexts(database),
    // What replaces a queued write runs in the main thread, see create-stores.ts.
    writer: { write: (...args) => questions.ask('write', args), replace: () => undefined },
    reader: { run: (name, data) => questions.ask('read', [name, data]) },
    checker: { run: (name, data) => questions.ask('check', [name, data]) },
  };
  // The main thread derives the events of settled calls.
  const all = stores(context, (call) => ({ call }) as never) as unknown as Record<
    string,
    Record<string, unknown>
  >;

  const run = async ({ id, store, method, args }: Extract<ToStores, { id: number }>): Promise<void> => {
    let message: FromStores;
    try {
      const member = all[store]?.[method];
      const result = await (typeof member === 'function' ? member(...args) : member);
      message = { id, result };
    } catch (error) {
      message = { id, ...failureOf(error) };
    }
    port.postMessage(message);
  };

  port.on('message', (message: ToStores) => {
    if ('close' in message) {
      connection.close();
      process.exit();
    } else if ('answer' in message) questions.settle(message);
    else void run(message);
  });
}

function failureOf(error: unknown): Omit<StoresFailure, 'id'> {
  const problem = messageOf(error);
  if (error instanceof QuestionFailed) return { problem, question: error.question };
  if (error instanceof ApiError) {
    const { code, message, param } = error;
    return { problem, refusal: { code, message, param } };
  }
  return isConnectionLost(postgresCode(error)) ? { problem, refusal: { code: 'unavailable' } } : { problem };
}

if (parentPort) serveStores(parentPort, workerData as StoresData);
