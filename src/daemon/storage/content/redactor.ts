import { isJsonText, mapTexts } from '../../../shared/json/json-object.ts';
import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { maskJsonText } from '../../../shared/masking/mask-json.ts';
import { withoutPersonalData } from '../../../shared/masking/personal-data.ts';
import {
  type RedactionKind,
  type RemovedKind,
  removedMark,
} from '../../../shared/masking/redaction-kinds.ts';
import { BoundedPatterns } from '../../runtime/bounded-patterns.ts';

/** What is removed, besides credentials. */
export interface RedactionRules {
  kinds: readonly RedactionKind[];
  /** Regular expressions of the operator. */
  patterns: readonly string[];
}

/** Removes what must not be kept from a text, and notes what it was. */
export class Redactor {
  readonly #rules: RedactionRules;
  readonly #patterns: BoundedPatterns;
  readonly #onTooSlow: () => void;

  /** `onTooSlow` is called when the patterns take too long for a text, which is then not kept. */
  constructor(rules: RedactionRules, onTooSlow: () => void) {
    this.#rules = rules;
    this.#patterns = new BoundedPatterns(rules.patterns);
    this.#onTooSlow = onTooSlow;
  }

  /** A JSON text stays one. Secrets that are found are added to those that are known. */
  clean(text: string, known: KnownSecrets, found: Set<RemovedKind>): string {
    const safe = maskJsonText(text, { known });
    if (safe !== text) found.add('credential');
    const clean = this.#personal(safe, found);
    if (clean === safe || !isJsonText(safe) || isJsonText(clean)) return clean;
    // A number was replaced by words.
    return JSON.stringify(mapTexts(JSON.parse(safe), (part) => this.#personal(part, found)));
  }

  #personal(text: string, found: Set<RemovedKind>): string {
    const mark = (kind: RemovedKind): string => {
      found.add(kind);
      return removedMark(kind);
    };
    const clean = this.#patterns.replace(withoutPersonalData(text, this.#rules.kinds, mark), () =>
      mark('pattern'),
    );
    if (clean !== undefined) return clean;
    this.#onTooSlow();
    return mark('unchecked');
  }
}
