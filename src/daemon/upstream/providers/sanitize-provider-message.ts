import { maskText } from '../../../shared/masking/mask-text.ts';
import type { CallerErrorCode } from '../../features/upstreams/upstream.ts';
import { saysTooLong } from './too-long.ts';

/** The part of a provider's message that is read; the rest can only be a quotation. */
const readCharsMax = 4_000;

const keys = /\b(?:(?:sk|rk|pk|gsk|xai|pplx|hf)[-_]|AIza|AQ\.|Bearer )[\w.*-]{6,}/g;
/** Ids of accounts and people; a name such as `user-defined` is none. */
const accounts = new RegExp(
  [
    /\b(?:org-|proj_|acct_|cus_)[\w-]{6,}/,
    /\b(?:organization|project|account|user|team)[-_ /]{1,8}(?=[A-Za-z_-]{0,64}\d)[\w-]{6,}/,
    /\b[Pp]rojects?[ /]+\d{6,}/,
    /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/,
    /(?<![\w.+-])[\w.+-]+@[\w-]{1,64}\.[\w.-]{1,64}/,
    /\b\d{10,}\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
/** Python's validators add the value that they refuse. */
const inputValue = /\binput(?:_value)?=.*/s;

/** What llama.cpp says after the place in a template, which has part of a string. Source: ggml-org/llama.cpp#19851. */
const templateFault = /\nError: (Jinja Exception: .*)/s;

/** Quotations in quotation marks; an unterminated one extends to the end. They never fail, so as not to be retried. */
const quotations: readonly (readonly [RegExp, string, string])[] = [
  [/"((?:[^"\\]|\\.)*)(?:"|\\?$)/gs, '"', '"'],
  [/`([^`]*)(?:`|$)/g, '`', '`'],
  [/“([^”]*)(?:”|$)/g, '“', '”'],
  // An apostrophe within a word is none.
  [/(?<![\w'])'((?:[^'\\]|\\.|'(?=\w))*)(?:'|\\?$)/gs, "'", "'"],
];

/**
 * Makes a provider's error message safe to show to the caller: one line, without keys and ids of accounts, and without
 * quotations, which usually repeat the caller's text. Quoted names of fields and models are kept. `maskFailure` cuts it to the
 * length that is shown, as part of a secret would not be recognized after a cut.
 */
export function sanitizeProviderMessage(message: string): string {
  const read = message.slice(0, readCharsMax);
  let text = maskText(templateFault.exec(read)?.[1] ?? read, { mark: () => '***' })
    .replace(/\s+/g, ' ')
    .replace(inputValue, '…')
    .replace(keys, '***')
    .replace(accounts, '***');
  for (const [pattern, open, close] of quotations) {
    text = text.replace(pattern, (whole, quoted: string) =>
      /^[\w.:/[\]*-]{1,64}$/.test(quoted) && whole.endsWith(close) ? whole : `${open}…${close}`,
    );
  }
  return text.trim().toWellFormed();
}

/**
 * The part of a message before it names or quotes anything from the request. Only this part may decide about the account:
 * otherwise a caller could craft a request that makes the shared account look closed.
 */
export function unquotedStart(message: string): string {
  return message.slice(0, 300).split(/["'`“”‘’:=(){}[\]<>]|\.\S/, 1)[0] ?? '';
}

/** The API error code for a refused request, from the provider's message. */
export function callerErrorCode(message: string): CallerErrorCode {
  const text = message.slice(0, readCharsMax);
  if (saysTooLong(text)) return 'context_length_exceeded';
  return /not supported|unsupported|not support|not enabled/i.test(text)
    ? 'unsupported_value'
    : 'invalid_request';
}
