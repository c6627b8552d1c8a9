import { getEnvironmentData, setEnvironmentData, threadId } from 'node:worker_threads';

const threadsMax = 64;
const name = 'steps';

/** The steps of each thread, which threads that are started later share. */
function sharedSteps(): Float64Array {
  const shared = getEnvironmentData(name) as unknown as Float64Array | undefined;
  if (shared !== undefined) return shared;
  const steps = new Float64Array(new SharedArrayBuffer(threadsMax * Float64Array.BYTES_PER_ELEMENT));
  setEnvironmentData(name, steps as never);
  return steps;
}

const all = sharedSteps();
const own = threadId % threadsMax;

/**
 * Counts the steps of a program that `withCounts` has prepared: its functions and the turns of its loops call `step`, and what it
 * spreads passes `spread`. Functions of JavaScript itself count what they go through.
 */
export const counter = {
  /** Those of this thread. */
  get steps(): number {
    return all[own] as number;
  },
  set steps(steps: number) {
    all[own] = steps;
  },
  /** Those of all threads. */
  ofAll: () => all.reduce((sum, steps) => sum + steps, 0),
  step: () => {
    (all[own] as number) += 1;
  },
  spread: <T>(list: T): T => {
    (all[own] as number) += sizeOf(list);
    return list;
  },
};

declare global {
  var stepCounter: typeof counter | undefined;
}

globalThis.stepCounter = counter;

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || ArrayBuffer.isView(value))
    return (value as { length: number }).length;
  if (value instanceof Map || value instanceof Set) return value.size;
  return typeof value === 'object' && value !== null ? keysOf(value).length : 0;
}

const { keys: keysOf } = Object;

type Method = (this: unknown, ...given: unknown[]) => unknown;

/** Counts what `cost` says of each call. */
function count(
  holder: object,
  names: string[],
  cost: (self: unknown, given: unknown[], found: unknown) => number,
) {
  const methods = holder as Record<string, Method>;
  for (const name of names) {
    const method = methods[name] as Method;
    methods[name] = function counted(...given) {
      const found = method.apply(this, given);
      counter.steps += cost(this, given, found);
      return found;
    };
  }
}

const ofSelf = (self: unknown) => sizeOf(self);
const ofResult = (_self: unknown, _given: unknown[], result: unknown) => sizeOf(result);
const ofInput = (_self: unknown, [input]: unknown[]) => sizeOf(input);
const ofBoth = (self: unknown, given: unknown[]) =>
  sizeOf(self) + given.reduce<number>((sum, one) => sum + sizeOf(one), 0);
const ofSearch = (self: unknown, [, from]: unknown[], found: unknown) =>
  (typeof found === 'number' && found >= 0 ? found : sizeOf(self)) - (typeof from === 'number' ? from : 0);

const bytes = Object.getPrototypeOf(Uint8Array.prototype) as object;
const lists = [
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flatMap',
  'forEach',
  'join',
  'map',
  'reduce',
];
count(
  Array.prototype,
  [...lists, 'concat', 'flat', 'includes', 'reverse', 'shift', 'some', 'sort', 'toSorted', 'unshift', 'with'],
  ofSelf,
);
count(Array.prototype, ['slice', 'splice', 'toSpliced'], ofResult);
count(Array.prototype, ['indexOf', 'lastIndexOf'], ofSearch);
count(Array, ['from'], ofResult);
count(
  String.prototype,
  ['includes', 'normalize', 'replaceAll', 'split', 'toLowerCase', 'toUpperCase'],
  ofSelf,
);
count(String.prototype, ['indexOf'], ofSearch);
count(bytes, ['includes', 'fill', 'slice', 'join'], ofSelf);
count(bytes, ['set'], ofInput);
count(Buffer.prototype, ['indexOf'], ofSearch);
count(Buffer.prototype, ['toString'], ofSelf);
count(Buffer, ['concat', 'from'], ofResult);
count(Object, ['keys', 'values', 'entries', 'fromEntries'], ofResult);
count(Object, ['assign'], ofBoth);
count(JSON, ['parse'], ofInput);
count(JSON, ['stringify'], ofResult);
