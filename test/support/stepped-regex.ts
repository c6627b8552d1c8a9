/** Instructions of a backtracking matcher, with operands `a` and `b`. */
export const Op = {
  match: 0,
  /** Reads a character of set `a`. */
  char: 1,
  /** Reads it backwards, in a look-behind. */
  charBefore: 2,
  /** Continues at `a`, and at `b` if that fails. */
  split: 3,
  /** Continues at `a`. */
  jump: 4,
  /** Saves the position in register `a`. */
  save: 5,
  /** Clears the registers from `a` to before `b`. */
  clear: 6,
  /** Resets the counter of loop `a`. */
  startLoop: 7,
  /** Starts an iteration of loop `a`, or leaves it to `b`. */
  loop: 8,
  /** Starts an iteration of loop `a`, after it was left in vain. */
  iterate: 9,
  /** Fails if nothing was read since register `a` was saved. */
  checkProgress: 10,
  start: 11,
  end: 12,
  /** Tests for the start of a line; characters of set `a` end lines. */
  lineStart: 13,
  lineEnd: 14,
  /** Tests for the boundary of a word of characters of set `a`. */
  wordBoundary: 15,
  noWordBoundary: 16,
  /** Runs the instructions that follow, and continues at `a` if they match. */
  lookaround: 17,
  /** Continues at `a` if they do not. */
  negatedLookaround: 18,
  /** Reads what group `a` captured. */
  backreference: 19,
  backreferenceBefore: 20,
} as const;

/** An `Op` and its operands. */
export const instructionSize = 3;

export interface Loop {
  min: number;
  max: number;
  isGreedy: boolean;
  /** The register that counts iterations. */
  counter: number;
  /** The register of the position where an iteration began, which is cleared if it may be empty; undefined if none can be. */
  begin: number | undefined;
}

/** A regular expression as instructions of a backtracking matcher. */
export interface RegexProgram {
  regex: RegExp;
  code: Int32Array;
  loops: Loop[];
  /** The sources of the sets of characters. */
  sets: string[];
  hasBackreferences: boolean;
  /** How many there are; the first ones contain where each group begins and ends. */
  registers: number;
  /** Whether it matches at the start of the text only. */
  isAnchored: boolean;
}

/** How many different characters the texts for one expression may have. */
const charsMax = 256;
const cleared = -1;

export interface Match {
  index: number;
  end: number;
}

/** That an expression would take more than `stepsMax`. */
export class StepsExceeded extends Error {}

/**
 * A regular expression that counts its steps. It backtracks as V8 does, so steps grow as V8's time does, but they are the same
 * on every machine.
 */
export class SteppedRegex {
  readonly #regex: RegExp;
  readonly #program: RegexProgram;
  readonly #matchers: RegExp[];
  /** 1 if a character is in a set, by the numbers of both. */
  readonly #inSet: Uint8Array;
  readonly #numbers = new Map<string, number>();
  readonly #kinds = new Map<string, number>();
  /** The number of the first character that back references do not distinguish from a character, by its number. */
  readonly #folded: number[] = [];
  readonly #registers: Int32Array;
  /** Pairs: an instruction to continue with and its position, or the complement of a register and what to restore. */
  #stack = new Int32Array(1024);
  #top = 0;
  #text: Uint8Array = new Uint8Array();
  #stepsLeft = 0;

  constructor(program: RegexProgram) {
    this.#program = program;
    this.#regex = program.regex;
    this.#matchers = program.sets.map((raw) => charMatcher(raw, this.#regex.flags) as RegExp);
    this.#inSet = new Uint8Array(this.#matchers.length * charsMax);
    this.#registers = new Int32Array(program.registers);
  }

  /** The characters of a text as numbers: its code points if the expression has the flag `u`, else its code units. */
  encode(text: string): Uint8Array {
    return Uint8Array.from(this.#split(text), (char) => this.#numbers.get(char) ?? this.#number(char));
  }

  #split(text: string): string[] {
    return this.#regex.unicode ? [...text] : text.split('');
  }

  /** Characters that no step distinguishes share a number. */
  #number(char: string): number {
    const inSets = this.#matchers.map((matcher) => (matcher.test(char) ? 1 : 0));
    const { hasBackreferences } = this.#program;
    const kind = hasBackreferences ? char : inSets.join('');
    const number = this.#kinds.get(kind) ?? this.#kinds.size;
    if (number === charsMax) throw new Error(`too many characters for ${this.#regex}`);
    for (const [set, isIn] of inSets.entries()) this.#inSet[set * charsMax + number] = isIn;
    const same =
      hasBackreferences && [...this.#numbers].find(([other]) => isSameChar(char, other, this.#regex));
    this.#folded[number] = same ? same[1] : number;
    this.#kinds.set(kind, number);
    this.#numbers.set(char, number);
    return number;
  }

  /** The first match, in code units as `RegExp.exec` gives it. */
  exec(text: string, stepsMax: number): Match | undefined {
    this.#stepsLeft = stepsMax;
    const match = this.#matchFrom(this.encode(text), 0);
    const position = (chars: number) => this.#split(text).slice(0, chars).join('').length;
    return match && { index: position(match.index), end: position(match.end) };
  }

  /** The steps to find the first match, or with the flags `g` and `y` all of them. */
  steps(text: Uint8Array, stepsMax: number): number {
    this.#stepsLeft = stepsMax;
    const isRepeated = this.#regex.global || this.#regex.sticky;
    for (let from = 0; from <= text.length; ) {
      const match = this.#matchFrom(text, from);
      if (match === undefined || !isRepeated) break;
      from = match.end === match.index ? match.end + 1 : match.end;
    }
    return stepsMax - this.#stepsLeft;
  }

  #matchFrom(text: Uint8Array, from: number): Match | undefined {
    this.#text = text;
    this.#registers.fill(cleared);
    this.#top = 0;
    const last = this.#regex.sticky ? from : this.#program.isAnchored ? 0 : text.length;
    for (let index = from; index <= last; index++) {
      const end = this.#run(0, index);
      if (end !== undefined) return { index, end };
    }
    return undefined;
  }

  /** Runs instructions; returns the position after what they match, undefined if they do not match. */
  #run(from: number, position: number): number | undefined {
    const { code } = this.#program;
    const text = this.#text;
    const inSet = this.#inSet;
    const bottom = this.#top;
    let next = from;
    let at = position;
    let stepsLeft = this.#stepsLeft;
    for (;;) {
      if (--stepsLeft < 0) throw new StepsExceeded();
      const op = code[next];
      const a = code[next + 1] as number;
      const b = code[next + 2] as number;
      let isMatch = true;
      next += instructionSize;
      switch (op) {
        case Op.match:
          this.#stepsLeft = stepsLeft;
          return at;
        case Op.char:
          isMatch = at < text.length && inSet[a * charsMax + (text[at++] as number)] === 1;
          break;
        case Op.charBefore:
          isMatch = at > 0 && inSet[a * charsMax + (text[--at] as number)] === 1;
          break;
        case Op.split:
          this.#push(b, at);
          next = a;
          break;
        case Op.jump:
          next = a;
          break;
        case Op.save:
          this.#store(a, at);
          break;
        case Op.clear:
          for (let register = a; register < b; register++) this.#store(register, cleared);
          break;
        case Op.startLoop:
          this.#store((this.#program.loops[a] as Loop).counter, 0);
          break;
        case Op.loop:
          next = this.#loop(a, next, b, at);
          break;
        case Op.iterate:
          this.#iterate(a, at);
          break;
        case Op.checkProgress:
          isMatch = this.#registers[a] !== at;
          break;
        case Op.lookaround:
        case Op.negatedLookaround:
          this.#stepsLeft = stepsLeft;
          isMatch = this.#lookaround(next, at, op === Op.lookaround) === (op === Op.lookaround);
          stepsLeft = this.#stepsLeft;
          next = a;
          break;
        case Op.backreference:
        case Op.backreferenceBefore: {
          this.#stepsLeft = stepsLeft;
          const end = this.#backreference(a, at, op === Op.backreference);
          stepsLeft = this.#stepsLeft;
          isMatch = end !== undefined;
          at = end ?? at;
          break;
        }
        default:
          isMatch = this.#isAt(op as number, a, at);
      }
      if (isMatch) continue;
      this.#undoUntilChoice(bottom);
      if (this.#top === bottom) {
        this.#stepsLeft = stepsLeft;
        return undefined;
      }
      this.#top -= 2;
      next = this.#stack[this.#top] as number;
      at = this.#stack[this.#top + 1] as number;
    }
  }

  #push(first: number, second: number): void {
    if (this.#top === this.#stack.length) {
      const larger = new Int32Array(2 * this.#stack.length);
      larger.set(this.#stack);
      this.#stack = larger;
    }
    this.#stack[this.#top++] = first;
    this.#stack[this.#top++] = second;
  }

  #store(register: number, value: number): void {
    this.#push(~register, this.#registers[register] as number);
    this.#registers[register] = value;
  }

  /** Restores registers until a choice is on top of the stack, or `bottom` is reached. */
  #undoUntilChoice(bottom: number): void {
    for (; this.#top > bottom; this.#top -= 2) {
      const first = this.#stack[this.#top - 2] as number;
      if (first >= 0) return;
      this.#registers[~first] = this.#stack[this.#top - 1] as number;
    }
  }

  #loop(number: number, iterate: number, exit: number, at: number): number {
    const { min, max, isGreedy, counter } = this.#program.loops[number] as Loop;
    const count = this.#registers[counter] as number;
    if (count >= max) return exit;
    if (count >= min) this.#push(isGreedy ? exit : iterate, at);
    if (count >= min && !isGreedy) return exit;
    this.#iterate(number, at);
    return iterate + instructionSize;
  }

  #iterate(number: number, at: number): void {
    const { min, counter, begin } = this.#program.loops[number] as Loop;
    const count = this.#registers[counter] as number;
    // Required iterations may be empty.
    if (begin !== undefined) this.#store(begin, count < min ? cleared : at);
    this.#store(counter, count + 1);
  }

  #lookaround(from: number, at: number, keepsCaptures: boolean): boolean {
    const bottom = this.#top;
    if (this.#run(from, at) === undefined) return false;
    const top = this.#top;
    if (keepsCaptures) {
      // Choices are dropped, but not what restores registers.
      this.#top = bottom;
      for (let pair = bottom; pair < top; pair += 2)
        if ((this.#stack[pair] as number) < 0)
          this.#push(this.#stack[pair] as number, this.#stack[pair + 1] as number);
    } else {
      for (this.#undoUntilChoice(bottom); this.#top > bottom; this.#undoUntilChoice(bottom)) this.#top -= 2;
    }
    return true;
  }

  /** The position after the text of a group; undefined if another text is there. */
  #backreference(group: number, at: number, isForwards: boolean): number | undefined {
    const begin = this.#registers[2 * group] as number;
    const end = this.#registers[2 * group + 1] as number;
    if (begin === cleared || end === cleared) return at;
    const start = isForwards ? at : at - (end - begin);
    if (start < 0 || start + (end - begin) > this.#text.length) return undefined;
    for (let read = 0; read < end - begin; read++) {
      this.#stepsLeft--;
      if (this.#foldedAt(begin + read) !== this.#foldedAt(start + read)) return undefined;
    }
    return isForwards ? at + (end - begin) : start;
  }

  #foldedAt(position: number): number | undefined {
    return this.#folded[this.#text[position] as number];
  }

  #isAt(op: number, set: number, at: number): boolean {
    switch (op) {
      case Op.start:
        return at === 0;
      case Op.end:
        return at === this.#text.length;
      case Op.lineStart:
        return at === 0 || this.#isIn(set, at - 1);
      case Op.lineEnd:
        return at === this.#text.length || this.#isIn(set, at);
      default:
        return (this.#isIn(set, at - 1) !== this.#isIn(set, at)) === (op === Op.wordBoundary);
    }
  }

  /** False before and after the text. */
  #isIn(set: number, position: number): boolean {
    const char = this.#text[position];
    return char !== undefined && this.#inSet[set * charsMax + char] === 1;
  }
}

function isSameChar(char: string, other: string, { ignoreCase, flags }: RegExp): boolean {
  return ignoreCase && charMatcher('([^])\\1', flags)?.test(other + char) === true;
}

/** Matches the characters that a character or class of an expression matches; undefined if it is none outside a class. */
export function charMatcher(raw: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${raw})$`, flags.replace(/[gym]/g, ''));
  } catch {
    // Characters such as `-` need another escape within a class than outside.
    return undefined;
  }
}
