/** How wide a value may be to be written on one line. */
const lineCharactersMax = 76;

/** A JSON value as JavaScript writes it. */
export function javaScriptLiteral(value: unknown, indent = ''): string {
  return literal(value, indent, {
    atom: (atom) => (typeof atom === 'string' ? javaScriptString(atom) : JSON.stringify(atom)),
    name: javaScriptName,
    padded: true,
  });
}

/** A JSON value as Python writes it. */
export function pythonLiteral(value: unknown, indent = ''): string {
  return literal(value, indent, { atom: pythonAtom, name: quoted, padded: false });
}

/** A text for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** In double quotes, with what terminals would act on escaped. JavaScript and Python read the same escapes. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function javaScriptString(text: string): string {
  return /^[^'"\\\p{Cc}\p{Bidi_Control}\u2028\u2029]*$/u.test(text) ? `'${text}'` : quoted(text);
}

/** `__proto__` would set the prototype. */
function javaScriptName(name: string): string {
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : javaScriptString(name);
}

function pythonAtom(atom: unknown): string {
  if (atom === null) return 'None';
  if (typeof atom === 'boolean') return atom ? 'True' : 'False';
  return typeof atom === 'string' ? quoted(atom) : JSON.stringify(atom);
}

interface Language {
  atom: (value: unknown) => string;
  name: (name: string) => string;
  /** Whether there are spaces within the braces of a line. */
  padded: boolean;
}

function literal(value: unknown, indent: string, language: Language): string {
  if (typeof value !== 'object' || value === null) return language.atom(value);
  const inner = `${indent}${language.padded ? '  ' : '    '}`;
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const parts = isList
    ? value.map((member) => literal(member, inner, language))
    : Object.entries(value).map(
        ([name, member]) => `${language.name(name)}: ${literal(member, inner, language)}`,
      );
  if (parts.length === 0) return open + close;
  const line = parts.join(', ');
  const gap = language.padded && !isList ? ' ' : '';
  if (!line.includes('\n') && indent.length + line.length < lineCharactersMax)
    return `${open}${gap}${line}${gap}${close}`;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}
