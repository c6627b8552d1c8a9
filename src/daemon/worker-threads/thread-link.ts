import type { MessagePort, Transferable, Worker } from 'node:worker_threads';
import { TransientMap } from '../../shared/async/transient.ts';
import { ApiError, type ErrorCode } from '../../shared/errors.ts';
import { messageOf } from '../../shared/faults/message-of.ts';

/** What one thread asks another: by name, the question and the answer. */
// biome-ignore lint/suspicious/noExplicitAny: each name has its own types.
export type Questions<Q> = { [N in keyof Q]: [question: any, answer: any] };

/** What answers: whatever it returns, where no answer is expected. */
export type Answers<Q extends Questions<Q>> = {
  [N in keyof Q]: (question: Q[N][0]) => undefined extends Q[N][1] ? unknown : Q[N][1] | Promise<Q[N][1]>;
};

/** The end of a channel. */
type ChannelEnd = MessagePort | Worker;

interface Problem {
  message: string;
  /** Only of an `ApiError`, as the rest. */
  code?: ErrorCode;
  param?: string | null;
  retryAfterSeconds?: number | undefined;
  /** For the log. */
  cause?: string;
}

type Message =
  | { name: string; question: unknown; id?: number }
  | { answers: number; answer?: unknown; problem?: Problem };

/** Asks a thread, and answers what it asks. `Asked` is what this side asks, `Answered` what it answers. */
export class ThreadLink<Asked extends Questions<Asked>, Answered extends Questions<Answered>> {
  readonly #end: ChannelEnd;
  readonly #answers: Answers<Answered>;
  readonly #waiting = new TransientMap<
    number,
    { resolve: (answer: never) => void; reject: (error: Error) => void }
  >();
  #last = 0;
  #ended: Error | undefined;

  constructor(end: ChannelEnd, answers: Answers<Answered>) {
    this.#end = end;
    this.#answers = answers;
    (end as Worker).on('message', (message: Message) => this.#receive(message));
  }

  /**
   * Rejects with an `ApiError` if the other side does, and if the thread ends before it answers. `moved` is what the other side gets
   * instead of a copy.
   */
  ask<N extends keyof Asked & string>(
    name: N,
    question: Asked[N][0],
    moved: readonly Transferable[] = [],
  ): Promise<Asked[N][1]> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#end.postMessage({ name, question, id } satisfies Message, moved);
    });
  }

  /** The same without an answer. */
  tell<N extends keyof Asked & string>(name: N, question: Asked[N][0]): void {
    if (this.#ended === undefined) this.#end.postMessage({ name, question } satisfies Message);
  }

  /** Rejects what was asked: no answer will come. */
  end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  #receive(message: Message): void {
    if ('answers' in message) {
      const waiting = this.#waiting.get(message.answers);
      this.#waiting.delete(message.answers);
      if (message.problem === undefined) waiting?.resolve(message.answer as never);
      else waiting?.reject(errorOf(message.problem));
      return;
    }
    const { name, question, id } = message;
    if (id === undefined) void this.#answers[name as keyof Answered](question);
    else void this.#answer(id, name as keyof Answered, question);
  }

  async #answer(id: number, name: keyof Answered, question: unknown): Promise<void> {
    let message: Message;
    try {
      message = { answers: id, answer: await this.#answers[name](question) };
    } catch (error) {
      message = { answers: id, problem: problemOf(error) };
    }
    this.#end.postMessage(message);
  }
}

function problemOf(error: unknown): Problem {
  if (!(error instanceof ApiError)) return { message: messageOf(error) };
  const { code, message, param, retryAfterSeconds, cause } = error;
  const details = { code, message, param, retryAfterSeconds };
  return cause === undefined ? details : { ...details, cause: messageOf(cause) };
}

function errorOf({ code, cause, retryAfterSeconds, ...details }: Problem): Error {
  if (code === undefined) return new Error(details.message);
  return new ApiError(code, {
    ...details,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause: new Error(cause) }),
  });
}
