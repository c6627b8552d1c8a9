import { type Context, createContext, Script } from 'node:vm';
import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { maskJsonText } from '../../../shared/masking/mask-json.ts';
import { withoutPersonalData } from '../../../shared/masking/personal-data.ts';
import type { RedactionKind, RemovedKind } from '../../../shared/masking/redaction-kinds.ts';
import { runWithin } from '../../runtime/run-within.ts';

/** What is removed, besides credentials. */
export interface RedactionRules {
  kinds: readonly RedactionKind[];
  /** Regular expressions of the operator. */
  patterns: readonly string[];
}

/** The processor time of all patterns on one text, of which each may take exponential time. */
const patternsMs = 200;
const removed = (kind: RemovedKind) => `[${kind} removed]`;
const script = new Script('patterns.reduce((text, pattern) => text.replace(pattern, mark), text)');

/** Removes what must not be kept from a text, and notes what it was. */
export class Redactor {
  readonly #rules: RedactionRules;
  readonly #patterns: RegExp[];
  #context: Context | undefined;
  readonly #onTooSlow: () => void;

  /** `onTooSlow` is called when the patterns take too long for a text, which is then not kept. */
  constructor(rules: RedactionRules, onTooSlow: () => void) {
    this.#rules = rules;
    this.#patterns = rules.patterns.map((pattern) => new RegExp(pattern, 'gu'));
    this.#onTooSlow = onTooSlow;
  }

  /** A JSON text stays one. Secrets that are found are added to those that are known. */
  clean(text: string, known: KnownSecrets, found: Set<RemovedKind>): string {
    const safe = maskJsonText(text, { known });
    if (safe !== text) found.add('credential');
    const clean = this.#personal(safe, found);
    if (clean === safe || !isJson(safe) || isJson(clean)) return clean;
    // A number was replaced by words.
    return JSON.stringify(this.#deep(JSON.parse(safe), found));
  }

  #deep(value: unknown, found: Set<RemovedKind>): unknown {
    if (typeof value === 'string') return this.#personal(value, found);
    if (typeof value === 'number') {
      const text = this.#personal(String(value), found);
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return value.map((element) => this.#deep(element, found));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [this.#personal(name, found), this.#deep(member, found)]),
    );
  }

  #personal(text: string, found: Set<RemovedKind>): string {
    const clean = withoutPersonalData(text, this.#rules.kinds, (kind) => found.add(kind));
    return this.#withoutPatterns(clean, found);
  }

  #withoutPatterns(text: string, found: Set<RemovedKind>): string {
    if (this.#patterns.length === 0) return text;
    const clean = this.#replaced(text);
    if (clean === undefined) {
      this.#onTooSlow();
      found.add('unchecked');
      return removed('unchecked');
    }
    if (clean !== text) found.add('pattern');
    return clean;
  }

  #replaced(text: string): string | undefined {
    this.#context ??= createContext({});
    const context = this.#context;
    Object.assign(context, { patterns: this.#patterns, text, mark: removed('pattern') });
    try {
      return runWithin<string>(script, context, patternsMs);
    } catch {
      return undefined;
    } finally {
      Object.assign(context, { text: undefined });
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
