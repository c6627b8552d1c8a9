import { once } from 'node:events';
import { PostgresError } from './engine/errors.ts';
import type { FromServer, ServerChannel, StepResult, ToServer, Value } from './engine/messages.ts';

/** A connection whose queries are awaited. One query at a time. */
export class ControlConnection {
  readonly #channel: ServerChannel;

  constructor(channel: ServerChannel) {
    this.#channel = channel;
  }

  /** Rejects with `PostgresError`. */
  async connect(): Promise<void> {
    await this.#ask({ connect: true });
  }

  /** The rows of one statement. */
  async query(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const { results } = await this.#ask({ steps: [{ sql, values: values as Value[] }] });
    const { columns, rows } = results[0] as StepResult;
    return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
  }

  close(): void {
    this.#channel.port.close();
  }

  async #ask(message: ToServer): Promise<FromServer> {
    const { port } = this.#channel;
    const answered = once(port, 'message') as Promise<[FromServer]>;
    port.postMessage(message);
    const [answer] = await answered;
    if (answer.failure) throw new PostgresError(answer.failure);
    return answer;
  }
}
