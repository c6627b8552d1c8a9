import { createHash, randomUUID } from 'node:crypto';

export function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

/** The form of ids in the Responses format, in which a chat client's history may be sent later. */
const responsesForm = /^.{1,64}$/s;

/** Gives the calls of one answer distinct ids: with duplicates, as some providers send, outputs would be ambiguous. */
export class CallIds {
  readonly #used = new Set<string>();
  readonly #form: RegExp;
  readonly #makeId: () => string;

  /** `form`: valid ids; `makeId`: returns a unique id. */
  constructor({ form = responsesForm, makeId = newCallId } = {}) {
    this.#form = form;
    this.#makeId = makeId;
  }

  /** The provider's id if it is valid and not used yet, else a new one. */
  unique(providerId: unknown): string {
    const isUsable =
      typeof providerId === 'string' && this.#form.test(providerId) && !this.#used.has(providerId);
    const id = isUsable ? providerId : this.#makeId();
    this.#used.add(id);
    return id;
  }
}

/** The calls without those that are sent again, id and all. `idOf`: undefined for what is no call. */
export function withoutRepeated<Call>(calls: readonly Call[], idOf: (call: Call) => unknown): Call[] {
  const known = new Map<unknown, string>();
  return calls.filter((call) => {
    const id = idOf(call);
    if (id === undefined) return true;
    const text = JSON.stringify(call);
    if (known.get(id) === text) return false;
    known.set(id, text);
    return true;
  });
}

const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of nine letters or digits, as Mistral requires. Deterministic, so that calls and their outputs still match when
 * the history is sent again. Source: Mistral's API, `tool_calls[].id`.
 */
export function shortCallId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  let short = '';
  for (let i = 0; i < 9; i += 1) short += alphanumerics[digest.readUInt16BE(i * 2) % alphanumerics.length];
  return short;
}
