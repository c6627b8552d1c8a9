/**
 * Collections of what comes and goes all the time, such as running calls. V8 replaces the table of a `Map` or `Set` after about as
 * many changes as it has entries, and a replaced table still refers to what it contained, and to the next table. Once one
 * of them is in the old generation, so is all that was in any later one, until the next full garbage collection.
 */

/** Knows its place in the one `TransientList` that may contain it; -1 outside of it. */
export interface Listed {
  place: number;
}

/** A list without order, from which a member is deleted in constant time. */
export class TransientList<Member extends Listed> {
  readonly #members: Member[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Does nothing if the member is in the list. */
  add(member: Member): void {
    if (member.place < 0) member.place = this.#members.push(member) - 1;
  }

  /** Moves the last member to the free place. Does nothing if the member is not in the list. */
  delete(member: Member): void {
    const { place } = member;
    if (place < 0) return;
    member.place = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    this.#members[place] = last;
    last.place = place;
  }

  /** Deletes the last member and returns it; undefined if there is none. */
  takeLast(): Member | undefined {
    const last = this.#members.pop();
    if (last !== undefined) last.place = -1;
    return last;
  }

  /** Members that are added or deleted meanwhile may be missed; copy the list where that matters. */
  [Symbol.iterator](): IterableIterator<Member> {
    return this.#members.values();
  }
}

/** A map whose replaced tables refer to keys, but not to values. */
export class TransientMap<Key, Value extends object> {
  readonly #entries = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry) entry.value = value;
    else this.#entries.set(key, { value });
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.value = undefined;
    this.#entries.delete(key);
  }

  clear(): void {
    for (const entry of this.#entries.values()) entry.value = undefined;
    this.#entries.clear();
  }

  /** A copy. */
  values(): Value[] {
    return [...this.#entries.values()].flatMap(({ value }) => value ?? []);
  }
}
