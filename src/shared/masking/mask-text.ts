import { isJsonText } from '../json/json-object.ts';
import { stringEnd } from '../json/json-text.ts';
import { decodePercent } from '../text/decode-percent.ts';
import { hostSecrets, inJson, KnownSecrets, looksRandom, looksUnusual } from './known-secrets.ts';

/** Stands in the place of a secret. */
export const removedText = '[removed]';

export interface MaskOptions {
  /** Masked wherever they are; secrets that are recognized by their place are added. */
  known?: KnownSecrets;
  /** What stands in the place of a secret; `[removed]` by default. */
  mark?: (secret: string) => string;
  /** The same for a secret that is repeated; `mark` by default. */
  markRepeated?: (secret: string) => string;
}

/** `https://name:password@host`. */
const userInfo = /:\/\/([^\s/?#@"'<>\\`]{1,1024})@/g;

/** A parameter of a URL. */
const parameter = /([?&#;](?:amp;)?)([\w.%-]{2,40})=([^&#\s"'<>\\`[\](){}]{1,8192})/g;
/** Whether it carries a credential, by its name. */
const isParameterName =
  /^(?:key|(?:x-)?api[-_]?key|(?:access|auth|private|subscription|signing)[-_]?key|awsaccesskeyid|googleaccessid|(?:x-(?:amz|goog)-)?(?:access|api|app|auth|bearer|bot|client|id|private|refresh|sas|security|session|user)?[-_]?token|auth|authorization|jwt|code_verifier|hdnea|hdnts|hmac|sign?|(?:x-(?:amz|goog|oss)-)?(?:signature|credential)|pass|passwd|password|pwd|(?:api|app|client|shared)?[-_]?secret)$/i;
/** Parameters that are nothing else; others may as well have a word, or the key of a record. */
const isSurelySecret = /pass|pwd|secret|signature|^sig$|credential/i;
const parameterCharactersMin = 6;

/** A member of a JSON text, by its name. Within a string of JSON, the quotation marks are escaped: that is ordinary text. */
const member =
  /("(?:authorization(?:_token)?|proxy-authorization|(?:x-)?(?:goog-)?api[-_]?key|(?:set-)?cookie|(?:access|refresh|id|session)_token|client_secret|passw(?:or)?d|secret_?key|private_key)"\s{0,16}:\s{0,16}")([^"\\]*(?:\\.[^"\\]*)*)"/gi;

/** Keys that begin with one of these prefixes, also after an escape such as `\n`. Whether one is a key is seen by its value. */
const keys =
  /(?:\b|(?<=\\[bfnrt]))(?:sk|rk|gsk|xai|pplx|hf|r8|fw|nvapi|whsec|xox[abprs]|gh[opsu]|github_pat|glpat|vck)[-_]([\w-]{16,})/g;
/** Whether a text may have one: found four times as fast. */
const mayHaveKey =
  /[-_](?<=(?:\b|\\[bfnrt])(?:sk|rk|gsk|xai|pplx|hf|r8|fw|nvapi|whsec|xox[abprs]|gh[opsu]|github_pat|glpat|vck).)[\w-]{16}/;
/** Other keys: of the gateway, of Google and Amazon. */
const forms = /(?:\b|(?<=\\[bfnrt]))(?:gw[klta]_\w{16,}|(?:AIza|AQ\.)[\w-]{16,}|A(?:KI|SI)A[A-Z\d]{16}\b)/g;
/** Credentials of HTTP headers, if what follows the scheme is one. */
const schemes =
  /(?:\b|(?<=\\[bfnrt]))([Bb]earer|[Bb]asic|L402|LSAT)\s{1,16}([\w.~+/=-]{11,}[\w+/=](?::[\da-f]{64})?)/g;
const afterAuthorization = /authorization\W{1,12}$/i;
const preimage = /:[\da-f]{64}$/;
/** Each part of a text is read once: what follows a hyphen does not begin another. */
const jwt = /(?:(?<![\w-])|(?<=\\[bfnrt]))eyJ[\w-]{10,256}\.eyJ[\w-]{10,4096}\.[\w-]{16,}/g;

/** Slashes and characters that some clients write as escapes in JSON, which hides addresses. */
const hidingEscape = /\\(?:\/|u00[2-7])/i;
const anyEscape = /\\(?:u00([2-7][\da-f])|([\s\S]))/gi;

/**
 * The one function that masks secrets in a text before it is kept, shown, exported or logged: those that are known, passwords and
 * tokens in addresses, members of JSON that carry credentials, and what has the form of a key. A JSON text stays one, and a text
 * without secrets is unchanged.
 */
export function maskText(text: string, options: MaskOptions = {}): string {
  if (text === '') return text;
  const plain = hidingEscape.test(text) ? withoutHidingEscapes(text) : text;
  const clean = maskPlain(plain, options);
  return clean === plain ? text : clean;
}

function maskPlain(
  text: string,
  { known = new KnownSecrets(), mark = () => removedText, markRepeated = mark }: MaskOptions,
): string {
  let clean = text;
  if (clean.includes('@') && clean.includes('://')) clean = maskUserInfo(clean, known, mark);
  if (clean.includes('=')) clean = maskParameters(clean, known, mark);
  if (clean.includes('":') || clean.includes('" :')) clean = maskMembers(clean, known, mark);
  clean = maskSchemes(clean, mark);
  if (mayHaveKey.test(clean))
    clean = clean.replace(keys, (key, value: string) => (isKey(value) ? mark(key) : key));
  clean = clean.replace(forms, (secret) => mark(secret));
  if (clean.includes('eyJ')) clean = clean.replace(jwt, (secret) => mark(secret));
  const secrets = [...known.values, ...hostSecrets.values];
  if (!secrets.some((secret) => clean.includes(secret))) return clean;
  if (!isJson(clean)) return replaced(clean, secrets, markRepeated);
  return withStrings(clean, (texts) => replaced(texts, secrets, (secret) => markRepeated(inJson(secret))));
}

type Mark = NonNullable<MaskOptions['mark']>;

function replaced(text: string, secrets: readonly string[], mark: Mark): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, () => mark(secret));
  return clean;
}

function isJson(text: string): boolean {
  return /^\s{0,16}[[{"]/.test(text) && isJsonText(text);
}

/** Between strings that are replaced at once: one by one, thousands of them would take long. */
const separator = '\0\n\0';

/** A JSON text with its strings and names replaced: a secret may look like a number, or like what is between two strings. */
function withStrings(json: string, replace: (texts: string) => string): string {
  const between: string[] = [];
  const literals: string[] = [];
  let from = 0;
  for (let start = json.indexOf('"'); start >= 0; start = json.indexOf('"', from)) {
    const end = stringEnd(json, start + 1);
    between.push(json.slice(from, start));
    literals.push(json.slice(start, end));
    from = end;
  }
  const texts = literals.map((literal) =>
    literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1),
  );
  const split = replace(texts.join(separator)).split(separator);
  // A text has the separator.
  const clean = split.length === texts.length ? split : texts.map(replace);
  const safe = literals.map((literal, at) => (clean[at] === texts[at] ? literal : JSON.stringify(clean[at])));
  return between.map((text, at) => text + safe[at]).join('') + json.slice(from);
}

/** Whether what follows the prefix of a key is no name, such as that of a package. */
function isKey(value: string): boolean {
  if (looksRandom(value) || /\d{9}/.test(value)) return true;
  if (value.length >= 32 && /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value)) return true;
  return value.split(/[-_]/).some((part) => part.length >= 20 && /[\dA-Z]/.test(part));
}

function maskSchemes(text: string, mark: Mark): string {
  return text.replace(schemes, (whole, scheme: string, value: string, at: number) => {
    const isHeader = afterAuthorization.test(text.slice(Math.max(0, at - 32), at));
    const isSecret = isHeader ? /[\dA-Z=]/.test(value) : isCredential(scheme.toLowerCase(), value);
    return isSecret ? mark(whole) : whole;
  });
}

function isCredential(scheme: string, value: string): boolean {
  if (scheme === 'basic') return isNameAndPassword(value) || looksRandom(value);
  if (preimage.test(value)) return true;
  return value.length >= 16 && (looksRandom(value) || /\d{9}/.test(value));
}

function isNameAndPassword(base64: string): boolean {
  try {
    return /^[ -9;-~]*:[ -~]*$/.test(atob(base64));
  } catch {
    return false;
  }
}

function maskUserInfo(text: string, known: KnownSecrets, mark: Mark): string {
  return text.replace(userInfo, (whole, info: string) => {
    const [user = '', password] = splitOnce(info, ':');
    // A name alone is no secret, unless it is a token.
    if (!password && !looksUnusual(user)) return whole;
    if (password) known.addTelling(password);
    else known.addRandom(user);
    return `://${mark(info)}@`;
  });
}

function maskParameters(text: string, known: KnownSecrets, mark: Mark): string {
  return text.replace(parameter, (whole, start: string, name: string, value: string) => {
    if (!isParameterName.test(name.includes('%') ? decodePercent(name) : name)) return whole;
    if (value.length < parameterCharactersMin && !isSurelySecret.test(name)) return whole;
    if (isSurelySecret.test(name)) known.addTelling(value);
    else known.addRandom(value);
    return `${start}${name}=${mark(value)}`;
  });
}

function maskMembers(text: string, known: KnownSecrets, mark: Mark): string {
  return text.replace(member, (whole, start: string, value: string) => {
    if (value === '' || value === removedText) return whole;
    addCredential(known, value);
    return `${start}${mark(value)}"`;
  });
}

/** Adds what a header or a member for credentials contains, also without its scheme, such as `Bearer`. */
export function addCredential(known: KnownSecrets, value: string): void {
  known.addTelling(value);
  for (const part of value.split(/\s+/).slice(1)) known.addTelling(part);
}

/** An address without credentials; other parameters are kept. `onSecret` is called for each of them. */
export function maskUrl(url: string, onSecret: (secret: string) => void = () => {}): string {
  const [address = '', fragment] = splitOnce(url, '#');
  const [path = '', query] = splitOnce(address, '?');
  const masked = query?.split('&').map((pair) => {
    const [name = '', value] = splitOnce(pair, '=');
    if (!value || !isParameterName.test(decodePercent(name))) return pair;
    onSecret(value);
    return `${name}=${removedText}`;
  });
  const open = path.replace(userInfo, (_whole, info: string) => {
    onSecret(splitOnce(info, ':')[1] || info);
    return `://${removedText}@`;
  });
  const whole =
    open + (masked ? `?${masked.join('&')}` : '') + (fragment === undefined ? '' : `#${fragment}`);
  return maskText(whole);
}

/**
 * The address of an MCP server, which may be a credential itself: without anything random in its path and its parameters. OpenAI's
 * API leaves out the whole path.
 */
export function maskServerUrl(url: string, known = new KnownSecrets()): string {
  const clean = maskUrl(url, (secret) => known.addTelling(secret));
  if (!clean.includes('://')) return clean;
  const [address = '', query] = splitOnce(clean, '?');
  const [scheme = '', rest = ''] = splitOnce(address, '://');
  const [host = '', ...segments] = rest.split('/');
  const hidden = (text: string, isHarmless: boolean): string => {
    if (isHarmless) return text;
    known.addRandom(text);
    return removedText;
  };
  const path = segments.map((segment) =>
    hidden(segment, segment === removedText || isPathWord.test(segment)),
  );
  const parameters = query?.split('&').map((pair) => {
    const [name = '', value] = splitOnce(pair, '=');
    if (value === undefined) return hidden(name, !looksUnusual(name));
    return `${name}=${hidden(value, value === removedText || !looksUnusual(value))}`;
  });
  return `${scheme}://${[host, ...path].join('/')}${parameters ? `?${parameters.join('&')}` : ''}`;
}

const isPathWord = /^[a-z]{0,15}(?:[-_.][a-z]{1,15}){0,4}\d{0,2}$/;

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The same JSON with these characters as themselves. */
function withoutHidingEscapes(text: string): string {
  return text.replace(anyEscape, (whole, hexadecimal: string | undefined, character: string | undefined) => {
    if (character === '/') return '/';
    if (hexadecimal === undefined) return whole;
    const meant = String.fromCharCode(Number.parseInt(hexadecimal, 16));
    return meant === '"' || meant === '\\' || meant === '\x7f' ? whole : meant;
  });
}
