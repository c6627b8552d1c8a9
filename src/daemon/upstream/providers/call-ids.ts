import { createHash, randomUUID } from 'node:crypto';

export function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

/** As the Responses format has it, to which a chat client's history may go one day. */
const fitForm = /^.{1,64}$/s;

/** The ids of one answer's calls: some providers give several the same, and their outputs could not be told apart. */
export class CallIds {
  readonly #used = new Set<string>();
  readonly #form: RegExp;
  readonly #make: () => string;

  /** `form`: what an id has to look like; `make` gives one that no other call has. */
  constructor({ form = fitForm, make = newCallId } = {}) {
    this.#form = form;
    this.#make = make;
  }

  /** The id itself if it may be one and no other call has it, else a new one. */
  own(told: unknown): string {
    const isFit = typeof told === 'string' && this.#form.test(told);
    const id = isFit && !this.#used.has(told) ? told : this.#make();
    this.#used.add(id);
    return id;
  }
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of nine letters or digits, as Mistral demands: the id itself where it already is one, else one made from it.
 * The same id always gives the same one, so that calls and their outputs stay together through every replay.
 */
export function shortCallId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  let short = '';
  for (let i = 0; i < 9; i += 1) short += letters[digest.readUInt16BE(i * 2) % letters.length];
  return short;
}
