import { hostSecrets, KnownSecrets, looksRandom } from './known-secrets.ts';

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
/** Parameters that are nothing else; others may as well have a short word. */
const isSurelySecret = /pass|pwd|secret|sig|credential/i;
const parameterCharactersMin = 6;

/** A member of a JSON text, by its name. Within a string of JSON, the quotation marks are escaped: that is ordinary text. */
const member =
  /("(?:authorization(?:_token)?|proxy-authorization|(?:x-)?(?:goog-)?api[-_]?key|(?:set-)?cookie|(?:access|refresh|id|session)_token|client_secret|passw(?:or)?d|secret_?key|private_key)"\s{0,16}:\s{0,16}")([^"\\]*(?:\\.[^"\\]*)*)"/gi;

/** Keys that begin with one of these prefixes. */
const keys =
  /\b(?:sk|rk|gsk|xai|pplx|hf|r8|fw|nvapi|whsec|xox[abprs]|gh[opsu]|github_pat|glpat|vck)[-_](?=[\w-]{0,64}[\dA-Z])[\w-]{16,}/g;
/** Whether a text may have one: found four times as fast. */
const mayHaveKey =
  /[-_](?<=\b(?:sk|rk|gsk|xai|pplx|hf|r8|fw|nvapi|whsec|xox[abprs]|gh[opsu]|github_pat|glpat|vck).)[\w-]{16}/;
/** Other credentials that are recognized by their form: of the gateway, of Google and Amazon, and of HTTP headers. */
const forms =
  /\bgw[klta]_\w{16,}|\b(?:AIza|AQ\.)[\w-]{16,}|\bA(?:KI|SI)A[A-Z\d]{16}\b|\b[Bb]earer\s{1,16}(?=[\w.~+/=-]{0,64}[\dA-Z])[\w.~+/=-]{16,}|\b[Bb]asic\s{1,16}(?=[\w+/-]{0,64}[\d=])[\w+/-]{12,}={0,2}|\b(?:L402|LSAT)\s{1,16}[\w+/=-]{16,}(?::[\da-f]{64})?/g;
const jwt = /\beyJ[\w-]{10,256}\.eyJ[\w-]{10,4096}\.[\w-]{16,}/g;

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
  if (mayHaveKey.test(clean)) clean = clean.replace(keys, (secret) => mark(secret));
  clean = clean.replace(forms, (secret) => mark(secret));
  if (clean.includes('eyJ')) clean = clean.replace(jwt, (secret) => mark(secret));
  for (const secret of known.values) clean = clean.replaceAll(secret, () => markRepeated(secret));
  for (const secret of hostSecrets.values) clean = clean.replaceAll(secret, () => markRepeated(secret));
  return clean;
}

type Mark = NonNullable<MaskOptions['mark']>;

function maskUserInfo(text: string, known: KnownSecrets, mark: Mark): string {
  return text.replace(userInfo, (whole, info: string) => {
    const [user = '', password] = splitOnce(info, ':');
    // A name alone is no secret, unless it is a token.
    if (password === undefined ? !looksRandom(user) : password === '' && !looksRandom(user)) return whole;
    known.addTelling(password || user);
    return `://${mark(info)}@`;
  });
}

function maskParameters(text: string, known: KnownSecrets, mark: Mark): string {
  return text.replace(parameter, (whole, start: string, name: string, value: string) => {
    if (!isParameterName.test(name.includes('%') ? decodedText(name) : name)) return whole;
    if (value.length < parameterCharactersMin && !isSurelySecret.test(name)) return whole;
    known.addTelling(value);
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
    if (!value || !isParameterName.test(decodedText(name))) return pair;
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
    known.add(text);
    return removedText;
  };
  const path = segments.map((segment) =>
    hidden(segment, segment === removedText || isPathWord.test(segment)),
  );
  const parameters = query?.split('&').map((pair) => {
    const [name = '', value] = splitOnce(pair, '=');
    if (value === undefined) return hidden(name, !looksRandom(name));
    return `${name}=${hidden(value, value === removedText || !looksRandom(value))}`;
  });
  return `${scheme}://${[host, ...path].join('/')}${parameters ? `?${parameters.join('&')}` : ''}`;
}

const isPathWord = /^[a-z]{0,15}(?:[-_.][a-z]{1,15}){0,4}\d{0,2}$/;

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
