import type { Subject, ToAuthority } from './messages.ts';

type Spent = ToAuthority & { kind: 'spent' };

/** Sends what a member sends in one turn of the event loop together, and what it spends of a limit as one sum. */
export class LeaseOutbox {
  readonly #post: (messages: ToAuthority[]) => void;
  readonly #afterTurn: (work: () => void) => void;
  #messages: ToAuthority[] = [];
  readonly #spent = new Map<Subject, Spent>();

  /** `afterTurn` runs work once the current turn has ended. */
  constructor(post: (messages: ToAuthority[]) => void, afterTurn: (work: () => void) => void) {
    this.#post = post;
    this.#afterTurn = afterTurn;
  }

  readonly send = (message: ToAuthority): void => {
    if (message.kind === 'spent') {
      const before = this.#spent.get(message.subject);
      if (before) {
        before.amount += message.amount;
        return;
      }
      this.#spent.set(message.subject, message);
    } else {
      // Sums do not pass other messages: what was spent of a limit before it ended is not part of the next one.
      this.#spent.clear();
    }
    this.#messages.push(message);
    if (this.#messages.length === 1) this.#afterTurn(this.#flush);
  };

  readonly #flush = (): void => {
    const messages = this.#messages;
    this.#messages = [];
    this.#spent.clear();
    this.#post(messages);
  };
}
