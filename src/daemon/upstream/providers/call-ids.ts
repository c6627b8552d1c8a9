import { createHash, randomUUID } from 'node:crypto';
import { isObject, mapChanged } from '../json.ts';

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

/**
 * The name of the tool that a call names; empty if it names none. Some servers leave tokens of the model's own format in it, and models of
 * OpenAI the namespace in which they know all functions. Source: vllm-project/vllm#32587, ollama/ollama#12132, tontinton/maki#505.
 */
export function toolNameIn(value: unknown): string {
  if (typeof value !== 'string') return '';
  const end = value.indexOf('<|');
  const name = end < 0 ? value : value.slice(0, end).trim();
  return name.startsWith(namespace) ? name.slice(namespace.length) : name;
}

const namespace = 'functions.';

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

/**
 * An id within a provider's limit: as it is, or with a digest of all of it in place of its end. Deterministic, so that calls and
 * their outputs still match; the caller's own ids are never changed, so nothing has to be undone.
 */
export function shortenedId(id: string, charactersMax: number): string {
  if (id.length <= charactersMax) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 24);
  return `${id.slice(0, charactersMax - digest.length - 1).toWellFormed()}_${digest}`;
}

/** OpenAI's limit in the Responses format. Source: decolua/9router#393. */
const responsesIdMax = 64;

/** Items of the Responses format whose ids of calls are within the limit; the same list if all are. */
export function withShortIds(items: readonly unknown[]): readonly unknown[] {
  return mapChanged(items, (item) => {
    if (!isObject(item) || typeof item.call_id !== 'string') return item;
    const id = shortenedId(item.call_id, responsesIdMax);
    return id === item.call_id ? item : { ...item, call_id: id };
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
