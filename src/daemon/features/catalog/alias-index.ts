import { ownValue } from '../../../shared/json/json-object.ts';
import { type AliasTarget, mapTarget } from './alias.ts';
import { starIn } from './name-pattern.ts';

interface Wildcard {
  /** Lowercase. */
  pattern: string;
  /** Whether it names the provider, too. */
  hasProvider: boolean;
  target: AliasTarget;
}

/** Finds aliases by the names that callers use. */
export class AliasIndex {
  readonly #aliases: Readonly<Record<string, AliasTarget>>;
  /** By lowercase name. */
  readonly #anyCase = new Map<string, AliasTarget>();
  /** The longest first. */
  readonly #wildcards: readonly Wildcard[];
  readonly #isEmpty: boolean;

  constructor(aliases: Readonly<Record<string, AliasTarget>>) {
    this.#aliases = aliases;
    const names = Object.keys(aliases);
    this.#isEmpty = names.length === 0;
    for (const name of names.filter((each) => !isWildcard(each)))
      this.#anyCase.set(name.toLowerCase(), aliases[name] as AliasTarget);
    this.#wildcards = names
      .filter(isWildcard)
      .sort((a, b) => b.length - a.length)
      .map((name) => ({
        pattern: name.toLowerCase(),
        hasProvider: name.includes('/'),
        target: aliases[name] as AliasTarget,
      }));
  }

  /**
   * What a name stands for: by the alias of that name, as it is written or else in any case, or by the longest wildcard that matches.
   * `provider/model` is matched only by a wildcard with a provider. A `*` of the target is what the first one of the wildcard matches.
   */
  find(name: string): AliasTarget | undefined {
    if (this.#isEmpty) return undefined;
    const exact = ownValue(this.#aliases, name);
    if (exact !== undefined && !isWildcard(name)) return exact;
    const lower = name.toLowerCase();
    const sameName = this.#anyCase.get(lower);
    if (sameName !== undefined) return sameName;
    const hasProvider = name.includes('/');
    for (const wildcard of this.#wildcards) {
      const matched = wildcard.hasProvider === hasProvider ? starIn(wildcard.pattern, lower) : undefined;
      if (matched === undefined) continue;
      const text = name.slice(matched.start, matched.end);
      return mapTarget(wildcard.target, (model) => model.replaceAll('*', () => text));
    }
    return undefined;
  }

  /** The names of the aliases that stand for one name each. */
  names(): string[] {
    return Object.keys(this.#aliases).filter((name) => !isWildcard(name));
  }
}

export function isWildcard(name: string): boolean {
  return name.includes('*');
}
