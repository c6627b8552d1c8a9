import type { Change } from '../base/changes.ts';
import { LocalChanges } from './local-changes.ts';

/** Resolves once the threads on the other side have applied the changes; rejects if one cannot. */
type PassOn = (changes: readonly Change[]) => Promise<void>;

/** The changes of a thread that shares its database with others. Writes resolve once all threads have applied theirs. */
export class MemberChanges extends LocalChanges {
  readonly #passOn: PassOn;

  constructor(passOn: PassOn) {
    super();
    this.#passOn = passOn;
  }

  /** Resolves once all threads have applied the changes; rejects if one cannot. */
  override async announce(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return;
    await Promise.all([super.announce(changes), this.#passOn(changes)]);
  }

  /** Applies what another thread announced. */
  receive(changes: readonly Change[]): Promise<void> {
    return super.announce(changes);
  }
}

/** The changes of the thread that all others are connected with: it passes on what each of them changes. */
export class SharedChanges<M> extends LocalChanges {
  readonly #members = new Map<M, PassOn>();

  join(member: M, passOn: PassOn): void {
    this.#members.set(member, passOn);
  }

  /** A thread that ended has nothing to apply. */
  leave(member: M): void {
    this.#members.delete(member);
  }

  /** Resolves once all threads have applied the changes; rejects if one cannot. */
  override async announce(changes: readonly Change[]): Promise<void> {
    if (changes.length > 0) await this.#announce(changes);
  }

  /** The same for what a member announced. */
  receive(member: M, changes: readonly Change[]): Promise<void> {
    return this.#announce(changes, member);
  }

  async #announce(changes: readonly Change[], except?: M): Promise<void> {
    const others = [...this.#members].filter(([member]) => member !== except);
    await Promise.all([
      super.announce(changes),
      ...others.map(([member, passOn]) =>
        passOn(changes).catch((error: unknown) => {
          if (this.#members.has(member)) throw error;
        }),
      ),
    ]);
  }
}
