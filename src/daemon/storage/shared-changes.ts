import type { Change, ChangeOf, Changes, Topic } from '../changes.ts';
import { LocalChanges } from './local-changes.ts';

/** Between a thread and the one that all threads are connected with, in order. */
export type ChangesMessage =
  | { kind: 'changed'; number: number; changes: readonly Change[] }
  /** All threads but the sender have applied it; `problem` says why one could not. */
  | { kind: 'applied'; number: number; problem: string | undefined };

type Send = (message: ChangesMessage) => void;

/** Changes that have been sent, until they are applied. */
class Sent {
  readonly #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  #last = 0;

  send(send: Send, changes: readonly Change[]): Promise<void> {
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      send({ kind: 'changed', number, changes });
    });
  }

  applied({ number, problem }: ChangesMessage & { kind: 'applied' }): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (problem === undefined) waiting?.resolve();
    else waiting?.reject(new Error(problem));
  }

  /** Nothing will be applied any more. */
  end(): void {
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }
}

async function answer(send: Send, number: number, applied: Promise<void>): Promise<void> {
  const problem = await applied.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  send({ kind: 'applied', number, problem });
}

/** The changes of a thread that shares its database with others. */
export class MemberChanges implements Changes {
  readonly #local = new LocalChanges();
  readonly #sent = new Sent();
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  subscribe<T extends Topic>(topic: T, apply: (change: ChangeOf<T>) => unknown): void {
    this.#local.subscribe(topic, apply);
  }

  /** Writes resolve once all threads have applied their changes. */
  current(): undefined {}

  /** Resolves once all threads have applied the changes; rejects if one cannot. */
  async announce(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    await Promise.all([this.#local.announce(changes), this.#sent.send(this.#send, changes)]);
  }

  receive(message: ChangesMessage): void {
    if (message.kind === 'applied') this.#sent.applied(message);
    else void answer(this.#send, message.number, this.#local.announce(message.changes));
  }
}

/** The changes of the thread that all others are connected with: it passes on what each of them changes. */
export class SharedChanges<M> implements Changes {
  readonly #local = new LocalChanges();
  readonly #members = new Map<M, { send: Send; sent: Sent }>();

  subscribe<T extends Topic>(topic: T, apply: (change: ChangeOf<T>) => unknown): void {
    this.#local.subscribe(topic, apply);
  }

  /** Writes resolve once all threads have applied their changes. */
  current(): undefined {}

  join(member: M, send: Send): void {
    this.#members.set(member, { send, sent: new Sent() });
  }

  /** A thread that ended has nothing to apply. */
  leave(member: M): void {
    this.#members.get(member)?.sent.end();
    this.#members.delete(member);
  }

  /** Resolves once all threads have applied the changes; rejects if one cannot. */
  async announce(changes: readonly Change[]): Promise<void> {
    if (changes.length > 0) await this.#announce(changes);
  }

  receive(member: M, message: ChangesMessage): void {
    const from = this.#members.get(member);
    if (!from) return;
    if (message.kind === 'applied') from.sent.applied(message);
    else void answer(from.send, message.number, this.#announce(message.changes, member));
  }

  async #announce(changes: readonly Change[], except?: M): Promise<void> {
    const others = [...this.#members].filter(([member]) => member !== except);
    await Promise.all([
      this.#local.announce(changes),
      ...others.map(([, { send, sent }]) => sent.send(send, changes)),
    ]);
  }
}
