import { type Context, createContext, Script } from 'node:vm';
import { runWithin, threadCpuMs } from '../../../runtime/run-within.ts';

/** The processor time of one search. */
const searchMsMax = 20;
/** The processor time of all searches for one instance together, as nothing else runs meanwhile. */
const totalMsMax = 100;
const searchesMax = 50;

/** Searches for texts that match untrusted patterns. */
export interface PatternSearch {
  /** The first matching text; undefined also if the pattern is invalid or takes too long. */
  first(pattern: string, texts: readonly string[]): string | undefined;
}

const script = new Script('texts.find((text) => pattern.test(text))');
let context: Context | undefined;

/**
 * Creates the search for one instance. Matching can take exponential time, and only the timeout of a script can stop it;
 * after the first timeout no more patterns are tried.
 */
export function patternSearch(): PatternSearch {
  let searchesLeft = searchesMax;
  let msLeft = totalMsMax;
  return {
    first(pattern, texts) {
      if (searchesLeft <= 0 || msLeft <= 0 || texts.length === 0) return undefined;
      searchesLeft -= 1;
      const startMs = threadCpuMs();
      context ??= createContext({});
      try {
        Object.assign(context, { pattern: new RegExp(pattern, 'u'), texts });
        return runWithin<string | undefined>(script, context, searchMsMax);
      } catch (error) {
        if (!(error instanceof SyntaxError)) searchesLeft = 0;
        return undefined;
      } finally {
        // The context is reused; the request's text must not stay in memory.
        Object.assign(context, { pattern: undefined, texts: undefined });
        msLeft -= threadCpuMs() - startMs;
      }
    },
  };
}
