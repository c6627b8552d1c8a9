import { createHmac } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { isObject, type JsonObject, mapTexts } from '../../../shared/json/json-object.ts';
import { maskText } from '../../../shared/masking/mask-text.ts';
import { withoutPersonalData } from '../../../shared/masking/personal-data.ts';
import { redactionKinds } from '../../../shared/masking/redaction-kinds.ts';
import type { CallFormat, Inference } from '../upstreams/neutral.ts';
import { Restorer } from './restorer.ts';
import type { RedactionRules } from './settings.ts';

/** The operator's regular expressions: replaces all matches, or returns undefined if that takes too long. */
export interface Patterns {
  replace(text: string, mark: (found: string) => string): string | undefined;
}

export interface Redacted {
  inference: Inference;
  /** How many different texts were replaced. */
  count: number;
  restorer: Restorer;
}

/** The members of a request with its conversation; others are written by programs, not by persons. */
const conversationMembers: Readonly<Record<CallFormat, readonly string[]>> = {
  responses: ['instructions', 'input', 'prompt'],
  chat: ['messages'],
  messages: ['system', 'messages'],
  embeddings: ['input'],
};

/** Members of items and parts that are names, ids, files or sealed, in all formats and in the neutral form. */
const exact: ReadonlySet<string> = new Set([
  ...['type', 'role', 'phase', 'status', 'name', 'namespace', 'wire', 'param', 'unknown', 'mustReach'],
  ...['id', 'call_id', 'callId', 'tool_call_id', 'tool_use_id', 'server_label', 'file_id', 'upload'],
  ...['tools', 'namespaces', 'format', 'media_type', 'detail', 'filename', 'cache_control', 'cacheControl'],
  ...['file_data', 'url', 'image_url', 'file_url', 'input_audio'],
  ...['encrypted_content', 'signature', 'origin', 'container'],
]);

const letters = 'abcdefghijklmnopqrstuvwxyz';
const markLetters = 10;

/** Replaces personal data and secrets in the conversation of a call. One instance for one call. */
export class Redaction {
  readonly #rules: RedactionRules;
  readonly #patterns: Patterns;
  readonly #key: Uint8Array;
  readonly #originals = new Map<string, string>();

  /** The same text has the same mark in all calls with one key, so that caches of prompts and signed thoughts stay valid. */
  constructor(rules: RedactionRules, { patterns, key }: { patterns: Patterns; key: Uint8Array }) {
    this.#rules = rules;
    this.#patterns = patterns;
    this.#key = key;
  }

  /** Undefined if nothing was found. Fails with `unavailable` if a pattern takes too long. */
  of(inference: Inference): Redacted | undefined {
    const { items, instructions, body, embedding, wire } = inference;
    const redactedBody: JsonObject = { ...body };
    for (const member of conversationMembers[wire]) {
      if (body[member] !== undefined) redactedBody[member] = this.#inItems(body[member]);
    }
    const redacted: Inference = {
      ...inference,
      items: this.#inItems(items),
      instructions: instructions && this.text(instructions),
      body: redactedBody,
      ...(embedding && { embedding: { ...embedding, inputs: this.#inItems(embedding.inputs) } }),
    };
    const { size: count } = this.#originals;
    return count === 0 ? undefined : { inference: redacted, count, restorer: new Restorer(this.#originals) };
  }

  #inItems<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((element) => this.#inItems(element)) as T;
    if (!isObject(value)) return value;
    const isToolUse = typeof value.type === 'string' && value.type.endsWith('tool_use');
    const members = Object.entries(value).map(([name, member]) => {
      if (exact.has(name)) return [name, member];
      // Of a file; documents may be plain text.
      if (name === 'data' && value.type !== 'text') return [name, member];
      if (name === 'arguments' && typeof member === 'string') return [name, this.#inArguments(member)];
      const isFree = name === 'variables' || (isToolUse && name === 'input');
      return [name, isFree ? this.#inValue(member) : this.#inItems(member)];
    });
    return Object.fromEntries(members) as T;
  }

  /** JSON in the terms of a tool, in which any member may have anything. */
  #inValue(value: unknown): unknown {
    return mapTexts(value, (text) => this.text(text));
  }

  /** A JSON text stays one, and as it was if it contains nothing. */
  #inArguments(text: string): string {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return this.text(text);
    }
    const before = JSON.stringify(parsed);
    const after = JSON.stringify(this.#inValue(parsed));
    return after === before ? text : after;
  }

  /** A text of the conversation. */
  text(text: string): string {
    const plain = this.#patterns.replace(text, (found) => this.#markOf('pattern', found));
    if (plain === undefined) {
      throw new ApiError('unavailable', {
        message: 'The expressions of redaction.patterns take too long for this request, so it was not sent.',
      });
    }
    const { kinds } = this.#rules;
    const safe = kinds.includes('credential')
      ? maskText(plain, { mark: (secret) => this.#markOf('credential', secret) })
      : plain;
    const personal = redactionKinds.filter((kind) => kinds.includes(kind));
    return withoutPersonalData(safe, personal, (kind, found) => this.#markOf(kind, found));
  }

  #markOf(kind: string, original: string): string {
    const digest = createHmac('sha256', this.#key).update(`${kind}\0${original}`).digest();
    let name = '';
    for (const byte of digest.subarray(0, markLetters)) name += letters[byte % letters.length];
    const mark = `[${kind}-${name}]`;
    this.#originals.set(mark, original);
    return mark;
  }
}
