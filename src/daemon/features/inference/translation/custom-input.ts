import { isObject } from '../../../../shared/faults/invalid-request.ts';

/** The parameter of the function that stands for a custom tool. */
const inputParameter = 'input';

/** The parameters of such a function. */
export const inputSchema = {
  type: 'object',
  properties: { [inputParameter]: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: [inputParameter],
  additionalProperties: false,
};

/** The arguments of such a function. */
export function argumentsOf(input: string): string {
  return JSON.stringify({ [inputParameter]: input });
}

const start = new RegExp(`^\\s*\\{\\s*"${inputParameter}"\\s*:\\s*"`);
/** The longest start that is waited for; models write little white space. */
const startCharactersMax = 64;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Reads the text in the arguments of a function that stands for a custom tool, while they arrive. Arguments in another
 * form are returned at the end: the only text in them, else the arguments as they are.
 */
export class CustomInputReader {
  #state: 'before' | 'inside' | 'after' | 'unknown' = 'before';
  /** All pieces, until the text starts. */
  #held = '';
  /** An escape sequence that is not complete. */
  #escape = '';

  /** Returns the next part of the text; empty while there is none. */
  push(piece: string): string {
    if (this.#state === 'inside') return this.#read(piece);
    if (this.#state === 'after') return '';
    this.#held += piece;
    if (this.#state === 'unknown') return '';
    const match = start.exec(this.#held);
    if (match === null) {
      if (this.#held.length > startCharactersMax) this.#state = 'unknown';
      return '';
    }
    const text = this.#held.slice(match[0].length);
    this.#held = '';
    this.#state = 'inside';
    return this.#read(text);
  }

  /** Returns the rest of the text. */
  end(): string {
    if (this.#state === 'inside' || this.#state === 'after') return '';
    return textIn(this.#held);
  }

  #read(piece: string): string {
    let text = '';
    for (const character of piece) {
      if (this.#escape !== '') text += this.#readEscape(character);
      else if (character === '\\') this.#escape = character;
      else if (character === '"') {
        this.#state = 'after';
        return text;
      } else text += character;
    }
    return text;
  }

  #readEscape(character: string): string {
    this.#escape += character;
    const [, kind = ''] = this.#escape;
    if (kind !== 'u') {
      this.#escape = '';
      return escapes[kind] ?? kind;
    }
    if (this.#escape.length < '\\u0000'.length) return '';
    const code = Number.parseInt(this.#escape.slice(2), 16);
    this.#escape = '';
    return Number.isNaN(code) ? '' : String.fromCharCode(code);
  }
}

function textIn(args: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch {
    return args;
  }
  if (typeof parsed === 'string') return parsed;
  if (!isObject(parsed)) return args;
  const { [inputParameter]: input, ...others } = parsed;
  if (typeof input === 'string') return input;
  const values = Object.values(others);
  const [only] = values;
  if (values.length === 1 && typeof only === 'string') return only;
  return values.length === 0 ? '' : args;
}
