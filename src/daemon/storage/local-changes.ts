import type { Change, ChangeOf, Changes, Topic } from '../base/changes.ts';

type Apply = (change: Change) => unknown;

/** The changes of a daemon that has its database for itself. */
export class LocalChanges implements Changes {
  readonly #subscribers = new Map<Topic, Apply[]>();

  subscribe<T extends Topic>(topic: T, apply: (change: ChangeOf<T>) => unknown): void {
    const subscribers = this.#subscribers.get(topic) ?? [];
    this.#subscribers.set(topic, subscribers);
    // The map has it under its own topic only.
    subscribers.push(apply as Apply);
  }

  current(): undefined {}

  /** Resolves once each subscriber has applied the changes; rejects if one cannot. */
  async announce(changes: readonly Change[]): Promise<void> {
    await Promise.all(
      changes.flatMap((change) =>
        (this.#subscribers.get(change.topic) ?? []).map(async (apply) => apply(change)),
      ),
    );
  }
}
