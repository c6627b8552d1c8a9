import { type Context, createContext, Script } from 'node:vm';
import { runWithin } from './run-within.ts';

/** The processor time of all patterns on one text, of which each may take exponential time. */
const patternsMs = 200;
const script = new Script('patterns.reduce((text, pattern) => text.replace(pattern, mark), text)');

/** Regular expressions of the operator, whose use is bounded in time. */
export class BoundedPatterns {
  readonly #patterns: RegExp[];
  #context: Context | undefined;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => new RegExp(pattern, 'gu'));
  }

  /** The text with all that matches replaced by what `mark` returns; undefined if that takes too long. Fails where `mark` does. */
  replace(text: string, mark: (found: string) => string): string | undefined {
    if (this.#patterns.length === 0) return text;
    this.#context ??= createContext({});
    const context = this.#context;
    let failure: unknown;
    const marked = (found: string): string => {
      // An empty match has nothing to replace.
      if (found === '') return found;
      try {
        return mark(found);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    Object.assign(context, { patterns: this.#patterns, text, mark: marked });
    try {
      return runWithin<string>(script, context, patternsMs);
    } catch {
      if (failure !== undefined) throw failure;
      return undefined;
    } finally {
      Object.assign(context, { text: undefined, mark: undefined });
    }
  }
}
