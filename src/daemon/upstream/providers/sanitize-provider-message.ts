import { UpstreamFailure, type UpstreamFailureDetails } from '../../features/inference/upstream.ts';

const messageCharsMax = 300;
/** What is read of a provider's words; the rest can only be a quotation. */
const wordsCharsMax = 4_000;

/**
 * A provider's own words about a refused request, fit for the caller: one line, without anything that looks like a
 * key, and without quotations, which are usually the caller's text. Quoted names of fields and models stay.
 */
export function publicWords(text: string): string {
  return (
    text
      .slice(0, wordsCharsMax)
      .replace(/\s+/g, ' ')
      .replace(/\b(?:sk-|AIza|AQ\.|Bearer )[\w.-]{8,}/g, '***')
      // One that does not end is a quotation to the end: it never fails, as one that fails is tried again from each mark.
      .replace(/"((?:[^"\\]|\\.)*)(?:"|\\?$)/g, (whole, quoted: string) =>
        /^[\w.:/[\]-]{1,40}$/.test(quoted) && whole.endsWith('"') ? whole : '"…"',
      )
      .trim()
      .slice(0, messageCharsMax)
      .toWellFormed()
  );
}

const ownWordsMax = 300;

/**
 * What a provider says itself before it names or quotes anything of the request. Only this may tell of the account: by
 * the rest, a caller could have the account of all others taken for one that is closed.
 */
export function ownWords(text: string): string {
  return text.slice(0, ownWordsMax).split(/["'`“”‘’:=(){}[\]<>]|\.\S/, 1)[0] ?? '';
}

/** What the caller is told of a refused request, and under which code. */
export function callerDetails(status: number, words: string): UpstreamFailureDetails {
  return {
    status,
    publicMessage: publicWords(words),
    code: callerCode(words.slice(0, wordsCharsMax)),
    param: null,
  };
}

function callerCode(words: string): UpstreamFailureDetails['code'] {
  if (/prompt is too long|context (window|length|limit)|input token count .*exceeds/i.test(words))
    return 'context_length_exceeded';
  return /not supported|unsupported|not support|not enabled/i.test(words)
    ? 'unsupported_value'
    : 'invalid_request';
}

/** Something that a caller asked for and a provider's format cannot say. */
export function unsupported(message: string, param: string): UpstreamFailure {
  return new UpstreamFailure('caller', 'the call cannot be said in the provider’s format', {
    publicMessage: message,
    code: 'unsupported_value',
    param,
  });
}
