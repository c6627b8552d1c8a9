import { type AST, visitRegExpAST } from '@eslint-community/regexpp';
import { compileRegex, parseRegex } from './regex-program.ts';
import { charMatcher, SteppedRegex, StepsExceeded } from './stepped-regex.ts';

/** A text that may take a regular expression long: `pump` is repeated as often as the text is to be long. */
interface Attack {
  prefix: string;
  pump: string;
  suffix: string;
}

/** Whether an attack may work shows in short texts; whether it does, in texts longer than bounded repetitions such as `{0,120}`. */
const pumpsOfShort = 8;
const lettersOfLong = [64, 256, 1024];
/** An expression is not linear if it takes more than this times the steps for three times a long text; quadratic time takes 9 times. */
const growthMax = 3 ** 1.25;
/** More steps for each letter of a text are too many, even if they do not grow: 1 MB takes half a second. */
const stepsPerLetterMax = 100;

/** An attack for which the steps of a regular expression grow faster than the text, in words; undefined if none is known. */
export function slowAttackOn(regex: RegExp): string | undefined {
  const stepped = new SteppedRegex(compileRegex(regex));
  const attack = attacksOn(regex, stepped).find((attack) => isSlow(stepped, attack));
  return attack && JSON.stringify(attack);
}

function isSlow(stepped: SteppedRegex, attack: Attack): boolean {
  const stepsFor = stepsCounter(stepped, attack);
  /** How the steps grow with two and three times as many pumps; those of a linear expression do not bend. */
  const growth = (pumps: number) => {
    const [one, two, three] = [stepsFor(pumps), stepsFor(2 * pumps), stepsFor(3 * pumps)];
    return { factor: three / one, bend: three - 2 * two + one, perPump: three / (3 * pumps) };
  };
  try {
    if (growth(pumpsOfShort).bend <= 0) return false;
    let factor = 0;
    for (const letters of lettersOfLong) {
      // Long pumps are repeated less, but still often.
      const long = growth(Math.ceil(letters / Math.sqrt(attack.pump.length)));
      // Bounded repetitions that end with the text bend a little.
      if (long.bend <= 8 * long.perPump) return false;
      factor = long.factor;
    }
    return factor > growthMax;
  } catch (error) {
    if (error instanceof StepsExceeded) return true;
    throw error;
  }
}

function stepsCounter(stepped: SteppedRegex, attack: Attack): (pumps: number) => number {
  const prefix = stepped.encode(attack.prefix);
  const pump = stepped.encode(attack.pump);
  const suffix = stepped.encode(attack.suffix);
  return (pumps) => {
    const text = new Uint8Array(prefix.length + pumps * pump.length + suffix.length);
    text.set(prefix);
    for (let at = 0; at < pumps; at++) text.set(pump, prefix.length + at * pump.length);
    text.set(suffix, text.length - suffix.length);
    return stepped.steps(text, stepsPerLetterMax * text.length);
  };
}

/** Repetitions up to this number are constant factors. */
const boundedMax = 15;
const variantsMax = 8;
const lettersMax = 14;
/** Letters of every kind that expressions distinguish. */
const commonLetters = ['a', 'Z', '0', '_', '-', '.', ' ', '\n', '"', '\\', '/', '\0', 'é', '☃'];

/**
 * Texts that make the parts of an expression which repeat compete for the same letters, start over at each letter, or fail
 * only at the end. Empty if nothing in the expression repeats.
 */
function attacksOn(regex: RegExp, stepped: SteppedRegex): Attack[] {
  const { letters: all, repeated, starts } = partsOf(regex);
  if (repeated.length === 0) return [];
  // What the expression does not distinguish is tried once.
  const distinct = (texts: string[]) => uniqueBy(texts, (text) => stepped.encode(text).join());
  const letters = distinct(all);
  const endings = ['', '\0', '\n', '\n\0', '\n0\n'];
  const pairs = letters.flatMap((first) =>
    letters.map((second) => (first === second ? first : first + second)),
  );
  const pumps = distinct([...pairs, ...starts, ...repeated.flatMap(({ pumps }) => pumps)].filter(Boolean));
  const attacks = pumps.flatMap((pump) =>
    [...endings, `\n${pump}`].map((suffix) => ({ prefix: '', pump, suffix })),
  );
  // An expression that would match at the start, or end with the text, is slow elsewhere.
  for (const pump of [...letters, ...starts].filter(Boolean))
    for (const letter of letters)
      for (const prefix of ['', '\n', letter]) attacks.push({ prefix, pump, suffix: letter });
  for (const { lead, pumps } of repeated) {
    for (const pump of pumps.filter(Boolean))
      for (const suffix of [...endings, ...letters]) attacks.push({ prefix: lead, pump, suffix });
  }
  return uniqueBy(attacks, ({ prefix, pump, suffix }) =>
    [prefix, pump, suffix].map((text) => stepped.encode(text).join()).join(';'),
  );
}

/** The first item of each key. */
function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...Map.groupBy(items, keyOf).values()].map(([first]) => first as T);
}

/** Letters and short texts that a regular expression distinguishes, for texts that it may match. */
export function samplesFor(regex: RegExp): string[] {
  const { letters, repeated, starts } = partsOf(regex);
  return [...new Set([...letters, ...starts, ...repeated.flatMap(({ pumps }) => pumps)])];
}

function partsOf(regex: RegExp): Parts & { letters: string[] } {
  const pattern = parseRegex(regex);
  const letters = lettersOf(pattern, regex.flags);
  return { letters, ...walk(pattern, samplesBy(letters, regex.flags)) };
}

/** One letter for each combination of classes that match it; then letters that the expression names, up to a number. */
function lettersOf(pattern: AST.Pattern, flags: string): string[] {
  const sources = new Set(['\\w', '\\s', '\\n']);
  const named = new Set<string>();
  visitRegExpAST(pattern, {
    onCharacterEnter: ({ value }) => named.add(String.fromCodePoint(value)),
    onCharacterClassEnter: ({ raw }) => sources.add(raw),
    onCharacterSetEnter: ({ raw }) => sources.add(raw),
  });
  const matchers = [...sources].flatMap((raw) => charMatcher(raw, flags) ?? []);
  const letters = new Map<string, string>();
  for (const letter of [...commonLetters, ...named]) {
    const matching = matchers.map((matcher) => (matcher.test(letter) ? 1 : 0)).join('');
    if (!letters.has(matching)) letters.set(matching, letter);
  }
  return [...new Set([...letters.values(), ...named])].slice(0, Math.max(letters.size, lettersMax));
}

type Samples = (node: AST.Element) => string[];

/** Short texts that match a part of an expression. */
function samplesBy(letters: readonly string[], flags: string): Samples {
  const samples: Samples = (node) => {
    switch (node.type) {
      case 'Character':
        return [String.fromCodePoint(node.value)];
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass': {
        const matcher = charMatcher(node.raw, flags);
        return letters.filter((letter) => matcher?.test(letter)).slice(0, variantsMax);
      }
      case 'Group':
      case 'CapturingGroup':
        return node.alternatives
          .flatMap(({ elements }) => sequences(elements, samples))
          .slice(0, variantsMax * 2);
      case 'Quantifier':
        return node.min === 0
          ? ['', ...samples(node.element)]
          : samples(node.element).map((text) => text.repeat(Math.min(node.min, 64)));
      default:
        return [''];
    }
  };
  return samples;
}

/** The first sample of each part after another, and again with each other sample of one part: at first the second ones. */
function sequences(elements: readonly AST.Element[], samples: Samples): string[] {
  const choices = elements.map((element) => samples(element));
  const first = choices.map(([text = '']) => text);
  const others = choices
    .flatMap((texts, at) =>
      texts.slice(1).map((text, rank) => ({ rank, text: first.with(at, text).join('') })),
    )
    .sort((one, other) => one.rank - other.rank);
  return [...new Set([first.join(''), ...others.map(({ text }) => text)])].slice(0, variantsMax * 2);
}

interface Repeated {
  /** Matches all that precedes. */
  lead: string;
  pumps: string[];
}

interface Parts {
  /** What repeats without bound, or often. */
  repeated: Repeated[];
  /** Beginnings of matches. */
  starts: string[];
}

function walk(pattern: AST.Pattern, samples: Samples): Parts {
  const repeated: Repeated[] = [];
  const starts = new Set<string>();
  const enter = (alternatives: readonly AST.Alternative[], lead: string): void => {
    for (const { elements } of alternatives) {
      let before = lead;
      for (const element of elements) {
        const inner = element.type === 'Quantifier' ? element.element : element;
        if (element.type === 'Quantifier' && element.max > boundedMax) {
          const pumps = samples(element.element);
          repeated.push({ lead: before, pumps });
          for (const start of ['', ...pumps]) starts.add(before + start);
        }
        if ('alternatives' in inner) enter(inner.alternatives as AST.Alternative[], before);
        before += samples(element).find((text) => text !== '') ?? '';
      }
      starts.add(before);
    }
  };
  enter(pattern.alternatives, '');
  return { repeated, starts: [...starts] };
}
