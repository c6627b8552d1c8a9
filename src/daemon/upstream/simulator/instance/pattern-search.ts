import { type Context, createContext, Script } from 'node:vm';

const timeoutMs = 10;
/** The limit is one of the clock: on a busy machine, a short search can wait that long for its turn. */
const tries = 2;
const searchesMax = 50;

/** Tells which texts match a pattern that may be a stranger's. */
export interface PatternSearch {
  /** The first of the texts that matches; undefined too when the pattern is wrong or not worth more time. */
  first(pattern: string, texts: readonly string[]): string | undefined;
}

const script = new Script('texts.find((text) => pattern.test(text))');
let context: Context | undefined;

/**
 * One search for one instance. A pattern can take longer than the universe has time; the only way to stop one is the time
 * limit of a script. After the first that hits it, none is run any more.
 */
export function patternSearch(): PatternSearch {
  let searchesLeft = searchesMax;
  return {
    first(pattern, texts) {
      if (searchesLeft <= 0 || texts.length === 0) return undefined;
      searchesLeft -= 1;
      context ??= createContext({});
      try {
        Object.assign(context, { pattern: new RegExp(pattern, 'u'), texts });
        return runIn(context, tries);
      } catch (error) {
        if (!(error instanceof SyntaxError)) searchesLeft = 0;
        return undefined;
      } finally {
        // The context outlives the request; what the request said must not.
        Object.assign(context, { pattern: undefined, texts: undefined });
      }
    },
  };
}

function runIn(prepared: Context, triesLeft: number): string | undefined {
  try {
    return script.runInContext(prepared, { timeout: timeoutMs }) as string | undefined;
  } catch (error) {
    if (triesLeft <= 1) throw error;
    return runIn(prepared, triesLeft - 1);
  }
}
