import { trimEnd } from '../../../../shared/text/trim-text.ts';

/** Only the start of a long prompt is searched. */
const searchedCharsMax = 4000;

/** Properties that take the whole prompt. */
const questionNames = /^(?:query|question|prompt|message|text|input|content|task|topic|search_?term|q)$/i;
const placeNames = /(?:^|_)(?:city|cities|town|location|place|destination|origin|country|region)(?:$|_)/i;

const uri = /https?:\/\/[^\s"'<>)\]]*[^\s"'<>)\].,;:!?]/;
const formats = new Map<string, RegExp>(
  Object.entries({
    email: /(?<![\w.+-])[\w.+-]+@[\w-]{1,63}(?:\.[\w-]{1,63})+/,
    uri,
    url: uri,
    date: /\b\d{4}-\d{2}-\d{2}\b/,
    'date-time': /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/,
    uuid: /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i,
    ipv4: /\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b/,
  }),
);

/** A value in the prompt for a property. A clear one was most likely meant for it. */
export interface PromptValue<T> {
  value: T;
  clear: boolean;
}

/** Values for arguments, taken from the user's prompt. Each number and quotation is used once. */
export interface PromptValues {
  /** The value in `name: value` or `name=value`. */
  assigned(name: string): string | undefined;
  /** Whether the prompt contains the word, ignoring case. */
  mentions(word: string): boolean;
  textFor(name: string, format: string | undefined): PromptValue<string> | undefined;
  /** Values that may have a special form, such as order numbers, dates and addresses. */
  candidates(name: string, format: string | undefined): string[];
  numberFor(name: string, fits: (value: number) => boolean): PromptValue<number> | undefined;
  /** Marks a value as used. */
  use(value: number | string): void;
}

export function promptValues(prompt: string): PromptValues {
  const text = prompt.slice(0, searchedCharsMax);
  const numbers = [...text.matchAll(/(?<![\w.=:-])-?\d{1,15}(?:\.\d{1,9})?(?![\w-]|\.\d)/g)].map(([match]) =>
    Number(match),
  );
  const quotations = [...text.matchAll(/"([^"\n]{1,200})"|“([^“”\n]{1,200})”/g)].map(
    ([, plain, curly]) => plain ?? curly ?? '',
  );
  const lower = text.toLowerCase();
  // Skips the regular expression for most names of a large schema.
  const mayContain = (name: string) => lower.includes(name.toLowerCase().split(/[_ -]/, 1)[0] ?? '');
  const assigned = (name: string) => (mayContain(name) ? assignedIn(text, name) : undefined);

  return {
    assigned,
    mentions: (word) => word !== '' && mayContain(word) && wholeWord(word).test(text),
    textFor(name, format) {
      const value = assigned(name);
      if (format !== undefined) {
        const match = formats.get(format)?.exec(text)?.[0];
        return match === undefined ? undefined : { value: match, clear: true };
      }
      if (value !== undefined) return { value, clear: true };
      if (placeNames.test(name)) {
        const place = placeIn(text);
        if (place !== undefined) return { value: place, clear: true };
      }
      const [quotation] = quotations;
      if (quotation !== undefined) return { value: quotation, clear: false };
      if (questionNames.test(name) && text.trim() !== '') return { value: text.trim(), clear: false };
      return undefined;
    },
    candidates(name, format) {
      const match = [assigned(name), formats.get(format ?? '')?.exec(text)?.[0]];
      return [...match.filter((value) => value !== undefined), ...quotations, ...specialWords(text)];
    },
    numberFor(name, fits) {
      const value = Number(assigned(name) ?? (mayContain(name) ? numberBefore(text, name) : undefined));
      if (Number.isFinite(value) && fits(value)) return { value, clear: true };
      const next = numbers.find(fits);
      return next === undefined ? undefined : { value: next, clear: false };
    },
    use(value) {
      const list: (number | string)[] = typeof value === 'number' ? numbers : quotations;
      const at = list.indexOf(value);
      if (at >= 0) list.splice(at, 1);
    },
  };
}

function assignedIn(text: string, name: string): string | undefined {
  const pattern = `(?<![\\p{L}\\p{N}_])${nameAsWritten(name)}\\s{0,3}[:=]\\s{0,3}(?:"([^"\\n]*)"|'([^'\\n]*)'|([^\\s,;]+))`;
  const match = new RegExp(pattern, 'iu').exec(text);
  return match ? (match[1] ?? match[2] ?? trimEnd(match[3] ?? '', '.!?)]}')) : undefined;
}

/** The number in `5 days`, for a property `days`. */
function numberBefore(text: string, name: string): string | undefined {
  return new RegExp(
    `(?<![\\w.-])(-?\\d{1,15}(?:\\.\\d{1,9})?)\\s${nameAsWritten(name)}(?![\\p{L}\\p{N}])`,
    'iu',
  ).exec(text)?.[1];
}

/** A capitalized name after a preposition, else one inside a sentence, else the plain word after `in`. */
function placeIn(text: string): string | undefined {
  const name = "\\p{Lu}[\\p{L}’'-]{1,30}(?: \\p{Lu}[\\p{L}’'-]{1,30}){0,3}";
  for (const pattern of [
    `\\b(?:in|at|for|to|near|from|of) ["“]?(${name})`,
    `(?<!\\p{L})\\p{Ll}\\p{L}{0,30}[,:]? ["“]?(${name})`,
    '\\bin (?!the\\b|a\\b|an\\b|my\\b|this\\b|parallel\\b)([\\p{L}-]{3,30})',
  ]) {
    const place = new RegExp(pattern, 'u').exec(text)?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Words with a digit or sign; plain words match too many patterns by chance. */
function specialWords(text: string): string[] {
  const words = text.split(/\s+/).map((word) => trimEnd(word.replace(/^[“"'(<[{]+/, ''), '.,;:!?)]}>"\'”'));
  return words.filter((word) => /\p{L}[^\p{L}\s]|\d/u.test(word)).slice(0, 100);
}

function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${nameAsWritten(word)}(?![\\p{L}\\p{N}_])`, 'iu');
}

/** A pattern for a name that may be written with spaces or hyphens instead of underscores. */
function nameAsWritten(name: string): string {
  const plain = name.slice(0, 100).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return plain.replace(/[_ -]+/g, '[_ -]?');
}
