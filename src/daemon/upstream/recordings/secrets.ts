/** Stands where a secret was. */
export const removed = '[removed]';

const secretHeader =
  /auth|cookie|token(?!s)|secret|session|signature|api-?key|goog-api|organization|project/i;
const secretParameter = /^(key|api[-_]?key|access_token|token|auth|sig|signature|password|secret)$/i;
/** Keys of the known providers and of this service, wherever they are written. */
const secretForms =
  /\b(?:sk-[\w-]{16,}|AIza[\w-]{16,}|AQ\.[\w-]{16,}|vck_\w{16,}|gw[klta]_\w{16,}|Bearer\s+[\w.~+/=-]{16,})/g;
/** What a shorter text would be replaced with all over the place. */
const lettersMin = 6;

/** Headers with the values of the secret ones removed. */
export function withoutSecretHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? removed : value]),
  );
}

/** An address without credentials; other parameters stay. */
export function withoutSecretParameters(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  // A name and a password before the host are credentials, both of them.
  parsed.username = '';
  parsed.password = '';
  for (const name of [...parsed.searchParams.keys()]) {
    if (secretParameter.test(name)) parsed.searchParams.set(name, 'removed');
  }
  return parsed.href;
}

/** The secrets that a request carries, so that they can be found wherever else they are. */
export function secretsIn(url: string, headers: Record<string, string>): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (secretHeader.test(name)) found.push(value, ...value.split(/\s+/).slice(1));
  }
  if (URL.canParse(url)) {
    const { searchParams, password } = new URL(url);
    found.push(password, decoded(password));
    for (const [name, value] of searchParams) if (secretParameter.test(name)) found.push(value);
  }
  return [...new Set(found)]
    .filter((secret) => secret.length >= lettersMin)
    .sort((a, b) => b.length - a.length);
}

/** As it was before it was written into an address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Text without these secrets and without anything that looks like a key. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, removed);
  return clean.replace(secretForms, removed);
}

/** The same for every text of a JSON value, names of members included. */
export function withoutSecretsDeep(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return withoutSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => withoutSecretsDeep(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      withoutSecrets(name, secrets),
      withoutSecretsDeep(member, secrets),
    ]),
  );
}
