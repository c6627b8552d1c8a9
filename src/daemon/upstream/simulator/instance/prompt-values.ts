/** Only the start of a long prompt is searched for values. */
const searchedCharsMax = 4000;

/** Names of properties that take the whole question. */
const questionNames = /^(?:query|question|prompt|message|text|input|content|task|topic|search_?term|q)$/i;
const placeNames = /(?:^|_)(?:city|cities|town|location|place|destination|origin|country|region)(?:$|_)/i;

const uri = /https?:\/\/[^\s"'<>)\]]*[^\s"'<>)\].,;:!?]/;
const formats = new Map<string, RegExp>(
  Object.entries({
    email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/,
    uri,
    url: uri,
    date: /\b\d{4}-\d{2}-\d{2}\b/,
    'date-time': /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})/,
    uuid: /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i,
    ipv4: /\b(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}\b/,
  }),
);

/** A value that the prompt offers for a property. A clear one was meant for it, as far as one can tell. */
export interface PromptValue<T> {
  value: T;
  clear: boolean;
}

/** Values for arguments, found in what the user wrote. Each number and quotation is handed out once. */
export interface PromptValues {
  /** `name: value` or `name=value`. */
  assigned(name: string): string | undefined;
  /** Whether the word stands in the prompt, in any case. */
  mentions(word: string): boolean;
  textFor(name: string, format: string | undefined): PromptValue<string> | undefined;
  /** All that may be a value of a special form: order numbers, dates, addresses. */
  candidates(name: string, format: string | undefined): string[];
  numberFor(name: string, fits: (value: number) => boolean): PromptValue<number> | undefined;
  /** Takes what was handed out off the list. */
  use(value: number | string): void;
}

export function promptValues(prompt: string): PromptValues {
  const text = prompt.slice(0, searchedCharsMax);
  const numbers = [...text.matchAll(/(?<![\w.=:-])-?\d{1,15}(?:\.\d{1,9})?(?![\w-]|\.\d)/g)].map(([found]) =>
    Number(found),
  );
  const quotations = [...text.matchAll(/"([^"\n]{1,200})"|“([^”\n]{1,200})”/g)].map(
    ([, plain, curly]) => plain ?? curly ?? '',
  );
  const lower = text.toLowerCase();
  // A large schema has many names, a prompt few of them: most are told apart without a pattern.
  const mayHold = (name: string) => lower.includes(name.toLowerCase().split(/[_ -]/, 1)[0] ?? '');
  const assigned = (name: string) => (mayHold(name) ? assignedIn(text, name) : undefined);

  return {
    assigned,
    mentions: (word) => word !== '' && mayHold(word) && wholeWord(word).test(text),
    textFor(name, format) {
      const given = assigned(name);
      if (format !== undefined) {
        const found = formats.get(format)?.exec(text)?.[0];
        return found === undefined ? undefined : { value: found, clear: true };
      }
      if (given !== undefined) return { value: given, clear: true };
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
      const found = [assigned(name), formats.get(format ?? '')?.exec(text)?.[0]];
      return [...found.filter((value) => value !== undefined), ...quotations, ...specialWords(text)];
    },
    numberFor(name, fits) {
      const given = Number(assigned(name) ?? (mayHold(name) ? besideIn(text, name) : undefined));
      if (Number.isFinite(given) && fits(given)) return { value: given, clear: true };
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
  return match ? (match[1] ?? match[2] ?? match[3]?.replace(/[.!?)\]}]+$/, '')) : undefined;
}

/** The number in `5 days`, for a property `days`. */
function besideIn(text: string, name: string): string | undefined {
  return new RegExp(
    `(?<![\\w.-])(-?\\d{1,15}(?:\\.\\d{1,9})?)\\s${nameAsWritten(name)}(?![\\p{L}\\p{N}])`,
    'iu',
  ).exec(text)?.[1];
}

/** A capitalised name after a preposition, else one inside a sentence, else the plain word after `in`. */
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

/** Words with a digit or a sign inside: a plain word matches too many patterns by chance. */
function specialWords(text: string): string[] {
  const words = text.split(/\s+/).map((word) => word.replace(/^[“"'(<[{]+|[.,;:!?)\]}>"'”]+$/g, ''));
  return words.filter((word) => /\p{L}[^\p{L}\s]|\d/u.test(word)).slice(0, 100);
}

function wholeWord(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${nameAsWritten(word)}(?![\\p{L}\\p{N}_])`, 'iu');
}

/** A pattern for a name that may be written with a blank or hyphen for its underscore. */
function nameAsWritten(name: string): string {
  const plain = name.slice(0, 100).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return plain.replace(/[_ -]+/g, '[_ -]?');
}
