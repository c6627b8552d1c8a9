/**
 * Ids of the calls of a conversation, each its own, and for each output that of its call. Models and clients repeat ids or leave them
 * out, and providers refuse such a conversation. They depend only on the conversation so far, so that a prompt is the same each time it is
 * sent. Source: can1357/oh-my-pi#2055, openclaw/openclaw#47136, vectorize-io/hindsight#4250.
 */
export class DistinctIds {
  readonly #used = new Set<string>();
  /** How many calls had the same id. */
  readonly #copies = new Map<string, number>();
  /** The calls of the newest turn that have no output yet, by the id that they came with. */
  readonly #open = new Map<string, string[]>();
  #hasEnded = false;

  ofCall(given: string): string {
    if (this.#hasEnded) this.#open.clear();
    this.#hasEnded = false;
    const base = given || 'call';
    let copy = this.#copies.get(base) ?? 1;
    let id = given;
    for (; id === '' || this.#used.has(id); id = `${base}_${copy}`) copy += 1;
    this.#copies.set(base, copy);
    this.#used.add(id);
    const open = this.#open.get(given);
    if (open === undefined) this.#open.set(given, [id]);
    else open.push(id);
    return id;
  }

  /** For a message that is not of the model. */
  endTurn(): void {
    this.#hasEnded = true;
  }

  /** Outputs of one id come in the order of its calls. One without an id is of the first call that has none yet. */
  ofOutput(given: string): string {
    this.endTurn();
    const key = given !== '' || this.#open.has('') ? given : this.#open.keys().next().value;
    const open = key === undefined ? undefined : this.#open.get(key);
    const id = open?.shift();
    if (key !== undefined && open?.length === 0) this.#open.delete(key);
    return id ?? given;
  }
}
