/** The longest message that is shown to a caller. */
const shownCharsMax = 300;
/** The part of a provider's message that is read; the rest can only be a quotation. */
const readCharsMax = 4_000;

/**
 * Makes a provider's error message safe to show to the caller: one line, with anything that looks like a key removed, and
 * with quotations removed, which usually repeat the caller's text. Quoted names of fields and models are kept.
 */
export function sanitizeProviderMessage(message: string): string {
  return (
    message
      .slice(0, readCharsMax)
      .replace(/\s+/g, ' ')
      .replace(/\b(?:sk-|AIza|AQ\.|Bearer )[\w.-]{8,}/g, '***')
      // An unterminated quotation extends to the end. The pattern never fails, so that it is not retried from each quote.
      .replace(/"((?:[^"\\]|\\.)*)(?:"|\\?$)/g, (whole, quoted: string) =>
        /^[\w.:/[\]-]{1,40}$/.test(quoted) && whole.endsWith('"') ? whole : '"…"',
      )
      .trim()
      .slice(0, shownCharsMax)
      .toWellFormed()
  );
}

/**
 * The part of a message before it names or quotes anything from the request. Only this part may decide about the account:
 * otherwise a caller could craft a request that makes the shared account look closed.
 */
export function unquotedStart(message: string): string {
  return message.slice(0, 300).split(/["'`“”‘’:=(){}[\]<>]|\.\S/, 1)[0] ?? '';
}

/** The API error code for a refused request, from the provider's message. */
export function callerErrorCode(message: string) {
  const text = message.slice(0, readCharsMax);
  if (/prompt is too long|context (window|length|limit)|input token count .*exceeds/i.test(text))
    return 'context_length_exceeded';
  return /not supported|unsupported|not support|not enabled/i.test(text)
    ? 'unsupported_value'
    : 'invalid_request';
}
