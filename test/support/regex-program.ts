import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { instructionSize, type Loop, Op, type RegexProgram } from './stepped-regex.ts';

export function parseRegex({ source, flags }: RegExp): AST.Pattern {
  return new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, undefined, undefined, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
}

/** Throws for syntax that `SteppedRegex` does not support. */
export function compileRegex(regex: RegExp): RegexProgram {
  if (regex.unicodeSets) throw new Error(`the flag v of ${regex} is not supported`);
  return new Compiler(regex).program;
}

const lineEnds = '[\\n\\r\\u2028\\u2029]';

type Direction = 'forwards' | 'backwards';

class Compiler {
  readonly program: RegexProgram;
  readonly #code: number[] = [];
  readonly #sets = new Map<string, number>();
  readonly #loops: Loop[] = [];
  readonly #groups = new Map<AST.CapturingGroup, number>();
  readonly #isMultiline: boolean;
  #hasBackreferences = false;
  #registers: number;

  constructor(regex: RegExp) {
    this.#isMultiline = regex.multiline;
    const pattern = parseRegex(regex);
    for (const group of groupsIn(pattern)) this.#groups.set(group, this.#groups.size);
    this.#registers = 2 * this.#groups.size;
    this.#alternatives(pattern.alternatives, 'forwards');
    this.#add(Op.match);
    this.program = {
      regex,
      code: Int32Array.from(this.#code),
      loops: this.#loops,
      sets: [...this.#sets.keys()],
      hasBackreferences: this.#hasBackreferences,
      registers: this.#registers,
      isAnchored: !regex.multiline && pattern.alternatives.every(({ elements: [first] }) => isStart(first)),
    };
  }

  /** Returns the index of the instruction. */
  #add(op: number, a = 0, b = 0): number {
    return this.#code.push(op, a, b) - instructionSize;
  }

  #here(): number {
    return this.#code.length;
  }

  #set(instruction: number, operand: 'a' | 'b', value: number): void {
    this.#code[instruction + (operand === 'a' ? 1 : 2)] = value;
  }

  #alternatives(alternatives: readonly AST.Alternative[], direction: Direction): void {
    const ends: number[] = [];
    alternatives.forEach(({ elements }, at) => {
      const choice =
        at < alternatives.length - 1 ? this.#add(Op.split, this.#here() + instructionSize) : undefined;
      for (const element of direction === 'forwards' ? elements : elements.toReversed())
        this.#element(element, direction);
      if (choice === undefined) return;
      ends.push(this.#add(Op.jump));
      this.#set(choice, 'b', this.#here());
    });
    for (const end of ends) this.#set(end, 'a', this.#here());
  }

  #element(element: AST.Element, direction: Direction): void {
    switch (element.type) {
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
        this.#add(direction === 'forwards' ? Op.char : Op.charBefore, this.#setOf(element.raw));
        break;
      case 'Group':
        if (element.modifiers) throw new Error(`the modifiers of ${element.raw} are not supported`);
        this.#alternatives(element.alternatives, direction);
        break;
      case 'CapturingGroup': {
        const begin = 2 * (this.#groups.get(element) as number);
        this.#add(Op.save, direction === 'forwards' ? begin : begin + 1);
        this.#alternatives(element.alternatives, direction);
        this.#add(Op.save, direction === 'forwards' ? begin + 1 : begin);
        break;
      }
      case 'Quantifier':
        this.#quantifier(element, direction);
        break;
      case 'Assertion':
        this.#assertion(element);
        break;
      case 'Backreference': {
        const group = [element.resolved].flat();
        if (group.length > 1) throw new Error(`${element.raw} names several groups, which is not supported`);
        const number = this.#groups.get(group[0] as AST.CapturingGroup) as number;
        this.#hasBackreferences = true;
        this.#add(direction === 'forwards' ? Op.backreference : Op.backreferenceBefore, number);
        break;
      }
      default:
        throw new Error(`${element.raw} is not supported`);
    }
  }

  #setOf(raw: string): number {
    const known = this.#sets.get(raw);
    if (known !== undefined) return known;
    this.#sets.set(raw, this.#sets.size);
    return this.#sets.size - 1;
  }

  #quantifier(quantifier: AST.Quantifier, direction: Direction): void {
    const { min, max, greedy, element } = quantifier;
    const isUnbounded = max === Number.POSITIVE_INFINITY;
    // Most quantifiers need no counter.
    if (!isChar(element) || min > 1 || (max !== 1 && !isUnbounded)) {
      this.#loop(quantifier, direction);
      return;
    }
    const skip = min === 0 ? this.#add(Op.split) : undefined;
    const body = this.#here();
    this.#element(element, direction);
    const again = isUnbounded ? this.#add(Op.split) : undefined;
    const exit = this.#here();
    for (const choice of [skip, again]) {
      if (choice === undefined) continue;
      this.#set(choice, 'a', greedy ? body : exit);
      this.#set(choice, 'b', greedy ? exit : body);
    }
  }

  #loop({ min, max, greedy: isGreedy, element }: AST.Quantifier, direction: Direction): void {
    const counter = this.#registers++;
    const begin = isChar(element) ? undefined : this.#registers++;
    const number = this.#loops.push({ min, max, isGreedy, counter, begin }) - 1;
    this.#add(Op.startLoop, number);
    const start = this.#add(Op.loop, number);
    this.#add(Op.iterate, number);
    const groups = [...groupsIn(element)].map((group) => this.#groups.get(group) as number);
    if (groups.length > 0) this.#add(Op.clear, 2 * Math.min(...groups), 2 * Math.max(...groups) + 2);
    this.#element(element, direction);
    if (begin !== undefined) this.#add(Op.checkProgress, begin);
    this.#add(Op.jump, start);
    this.#set(start, 'b', this.#here());
  }

  #assertion(assertion: AST.Assertion): void {
    switch (assertion.kind) {
      case 'start':
        if (this.#isMultiline) this.#add(Op.lineStart, this.#setOf(lineEnds));
        else this.#add(Op.start);
        break;
      case 'end':
        if (this.#isMultiline) this.#add(Op.lineEnd, this.#setOf(lineEnds));
        else this.#add(Op.end);
        break;
      case 'word':
        this.#add(assertion.negate ? Op.noWordBoundary : Op.wordBoundary, this.#setOf('\\w'));
        break;
      default: {
        const look = this.#add(assertion.negate ? Op.negatedLookaround : Op.lookaround);
        this.#alternatives(assertion.alternatives, assertion.kind === 'lookahead' ? 'forwards' : 'backwards');
        this.#add(Op.match);
        this.#set(look, 'a', this.#here());
      }
    }
  }
}

function isChar({ type }: AST.Element): boolean {
  return type === 'Character' || type === 'CharacterClass' || type === 'CharacterSet';
}

function isStart(element: AST.Element | undefined): boolean {
  return element?.type === 'Assertion' && element.kind === 'start';
}

/** The capturing groups within a part of an expression, in the order of their numbers. */
function* groupsIn(node: AST.Pattern | AST.Element): Generator<AST.CapturingGroup> {
  if (node.type === 'CapturingGroup') yield node;
  if (node.type === 'Quantifier') yield* groupsIn(node.element);
  if (!('alternatives' in node)) return;
  for (const { elements } of node.alternatives as AST.Alternative[])
    for (const element of elements) yield* groupsIn(element);
}
