/** Replaces secrets. */
export const removedText = '[removed]';

const secretHeader =
  /auth|cookie|token(?!s)|secret|session|signature|api-?key|goog-api|organization|project/i;
const secretParameter = /^(key|api[-_]?key|access_token|token|auth|sig|signature|password|secret)$/i;
/** Keys of the known providers and of the gateway, anywhere in a text. */
const secretForms =
  /\b(?:sk-[\w-]{16,}|AIza[\w-]{16,}|AQ\.[\w-]{16,}|vck_\w{16,}|gw[klta]_\w{16,}|Bearer\s+[\w.~+/=-]{16,})/g;
/** Shorter values are not replaced, since they would match ordinary text. */
const secretCharsMin = 6;

/** Headers with secret values removed. */
export function withoutSecretHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? removedText : value]),
  );
}

/** A URL without credentials; other parameters are kept. */
export function withoutSecretParameters(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  for (const name of [...parsed.searchParams.keys()]) {
    if (secretParameter.test(name)) parsed.searchParams.set(name, 'removed');
  }
  return parsed.href;
}

/** The secrets in a request's URL and headers, so that copies of them can be removed. */
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
    .filter((secret) => secret.length >= secretCharsMin)
    .sort((a, b) => b.length - a.length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Removes these secrets and anything that looks like a key. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, removedText);
  return clean.replace(secretForms, removedText);
}

/** The same for every string in a JSON value, including the names of members. */
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
