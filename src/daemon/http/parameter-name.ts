/** Names longer than this are the caller's play; they are cut. */
const nameCharsMax = 64;

/**
 * The place of a fault as its caller would write it: `input[2].content`. Null for the whole input.
 * `pointer` is a JSON pointer (RFC 6901) into `input`; `member` is a field below it that is missing or too many.
 */
export function parameterName(pointer: string, input: unknown, member?: string): string | null {
  let name = '';
  let value = input;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    name += Array.isArray(value) ? `[${key}]` : field(name, key);
    value = (value as Record<string, unknown> | undefined)?.[key];
  }
  if (member !== undefined) name += field(name, member);
  return name === '' ? null : name;
}

function field(before: string, key: string): string {
  const short = key.length > nameCharsMax ? `${key.slice(0, nameCharsMax)}…` : key;
  if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(short)}]`;
  return before === '' ? short : `.${short}`;
}
