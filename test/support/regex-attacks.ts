import { runInNewContext } from 'node:vm';
import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { threadCpuMs } from '../../src/daemon/run-within.ts';

/** A text that may take a regular expression long: `pump` is repeated as often as the text is to be long. */
interface Attack {
  prefix: string;
  pump: string;
  suffix: string;
}

/** An expression that takes more than this times as long for four times the text is not linear: quadratic time takes 16 times. */
const growthMax = 2.5 ** 2;
/** An expression that takes exponential time is stopped after this; others take milliseconds for one attack. */
const timeoutMs = 20_000;
/** Linear expressions take a few microseconds for the longest of these texts, others several milliseconds. */
const suspiciousMs = 1;
const lengths = [20, 300, 3000];

/** An attack for which the time of a regular expression grows faster than the text, in words; undefined if none is known. */
export function slowAttackOn(regex: RegExp): string | undefined {
  const attacks = attacksOn(regex);
  const isSlowAttack = (attack: Attack) => lengths.some((length) => isSlow(regex, attack, length));
  while (attacks.length > 0) {
    // All at once, as the watch over the time takes longer than most attacks.
    const found = inTime(() => {
      while (attacks[0] && !isSlowAttack(attacks[0])) attacks.shift();
    });
    const [attack] = attacks;
    if (attack === undefined) break;
    if (found !== 'late') return JSON.stringify(attack);
    if (inTime(() => isSlowAttack(attack)) === 'late') return `${JSON.stringify(attack)}, which does not end`;
  }
  return undefined;
}

/** What a function returns, unless it takes longer than `timeoutMs`. */
function inTime<T>(run: () => T): T | 'late' {
  try {
    return runInNewContext('run()', { run }, { timeout: timeoutMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'late';
    throw error;
  }
}

function isSlow(regex: RegExp, attack: Attack, length: number): boolean {
  let chars = length * Math.sqrt(attack.pump.length);
  const text = textOf(attack, chars);
  const start = performance.now();
  match(regex, text);
  if (performance.now() - start < suspiciousMs) return false;
  // From here on in processor time, as others use the machine.
  if (takesLess(regex, text, suspiciousMs)) return false;
  // Short texts can be a matter of milliseconds only if the time explodes.
  if (length < 1000) return true;
  while (takesLess(regex, textOf(attack, chars), 4 * suspiciousMs)) chars *= 2;
  const isBeyond = () => {
    const linearMs = growthMax * leastCpuMs(regex, textOf(attack, chars));
    return !takesLess(regex, textOf(attack, 4 * chars), linearMs);
  };
  return isBeyond() && isBeyond() && isBeyond();
}

function textOf({ prefix, pump, suffix }: Attack, chars: number): string {
  return prefix + pump.repeat(Math.ceil(chars / pump.length)) + suffix;
}

/** As the program uses it: an expression with the flag `g` on the whole text. */
function match(regex: RegExp, text: string): void {
  regex.lastIndex = 0;
  if (regex.global) text.replace(regex, '');
  else regex.test(text);
}

/** The least of three times is what an expression takes. */
const timesMax = 3;

function leastCpuMs(regex: RegExp, text: string): number {
  return Math.min(...Array.from({ length: timesMax }, () => cpuMs(regex, text)));
}

/** Whether the least of the times is less than `ms`; after one that is, the others need no measurement. */
function takesLess(regex: RegExp, text: string, ms: number): boolean {
  return Array.from({ length: timesMax }).some(() => cpuMs(regex, text) < ms);
}

function cpuMs(regex: RegExp, text: string): number {
  const before = threadCpuMs();
  match(regex, text);
  return threadCpuMs() - before;
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
function attacksOn({ source, flags }: RegExp): Attack[] {
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, undefined, undefined, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const letters = lettersOf(pattern, flags);
  const samples = samplesBy(letters, flags);
  const { repeated, starts } = walk(pattern, samples);
  if (repeated.length === 0) return [];
  const endings = ['', '\0', '\n', '\n\0', '\n0\n'];
  const pairs = letters.flatMap((first) =>
    letters.map((second) => (first === second ? first : first + second)),
  );
  const pumps = new Set([...pairs, ...starts, ...repeated.flatMap(({ pumps }) => pumps)].filter(Boolean));
  const attacks = [...pumps].flatMap((pump) =>
    [...endings, `\n${pump}`].map((suffix) => ({ prefix: '', pump, suffix })),
  );
  // An expression that would match at the start, or end with the text, is slow elsewhere.
  for (const pump of [...letters, ...starts].filter(Boolean))
    for (const letter of letters)
      for (const prefix of ['', letter]) attacks.push({ prefix, pump, suffix: letter });
  for (const { lead, pumps } of repeated) {
    for (const pump of pumps.filter(Boolean))
      for (const suffix of [...endings, ...letters]) attacks.push({ prefix: lead, pump, suffix });
  }
  const unique = new Map(attacks.map((attack) => [JSON.stringify(attack), attack]));
  return [...unique.values()];
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
  const matchers = [...sources].flatMap((raw) => matcherOf(raw, flags) ?? []);
  const letters = new Map<string, string>();
  for (const letter of [...commonLetters, ...named]) {
    const matching = matchers.map((matcher) => (matcher.test(letter) ? 1 : 0)).join('');
    if (!letters.has(matching)) letters.set(matching, letter);
  }
  return [...new Set([...letters.values(), ...named])].slice(0, Math.max(letters.size, lettersMax));
}

function matcherOf(raw: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${raw})$`, flags.replace(/[gym]/g, ''));
  } catch {
    // Characters such as `-` need another escape within a class than outside.
    return undefined;
  }
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
        const matcher = matcherOf(node.raw, flags);
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

/** The first sample of each part after another, and again with each other sample of one part. */
function sequences(elements: readonly AST.Element[], samples: Samples): string[] {
  const choices = elements.map((element) => samples(element));
  const first = choices.map(([text = '']) => text);
  const others = choices.flatMap((texts, at) => texts.slice(1).map((text) => first.with(at, text).join('')));
  return [...new Set([first.join(''), ...others])].slice(0, variantsMax * 2);
}

interface Repeated {
  /** Matches all that precedes. */
  lead: string;
  pumps: string[];
}

/** What repeats without bound in an expression, and the beginnings of its matches. */
function walk(pattern: AST.Pattern, samples: Samples): { repeated: Repeated[]; starts: string[] } {
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
