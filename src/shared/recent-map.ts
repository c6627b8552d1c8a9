/** A map of at most `sizeMax` entries, which evicts the entry that was added first. Setting a known key does not add it again. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  override set(key: Key, value: Value): this {
    if (this.size >= this.#sizeMax && !this.has(key)) {
      for (const oldest of this.keys()) {
        this.delete(oldest);
        break;
      }
    }
    return super.set(key, value);
  }
}
