import type { CountedWork } from './counted-thread.ts';

const numbers = (size: number) => Array.from({ length: size }, (_, at) => at);

/** Work in quadratic time, written in the ways in which that happens, and work in linear time. */
export const works: Record<string, CountedWork> = {
  'a loop in a loop': (size) => () => {
    let pairs = 0;
    for (let one = 0; one < size; one += 1) for (let other = 0; other < one; other += 1) pairs += 1;
    return pairs;
  },
  'a loop that searches': (size) => {
    const list = numbers(size);
    return () => list.filter((one) => list.find((other) => other === one) === undefined).length;
  },
  'a search by the language': (size) => {
    const list = numbers(size);
    return () => list.filter((one) => !list.includes(one)).length;
  },
  'a search for a character': (size) => {
    const text = 'a'.repeat(size);
    return () => numbers(size).every((at) => text.indexOf('b', at) === -1);
  },
  'a list that is copied to grow': (size) => {
    const list = numbers(size);
    // biome-ignore lint/performance/noAccumulatingSpread: what is to be found
    return () => list.reduce<number[]>((all, one) => [...all, one], []).length;
  },
  'an object that is copied to grow': (size) => {
    const list = numbers(size);
    // biome-ignore lint/performance/noAccumulatingSpread: what is to be found
    return () => list.reduce<object>((all, one) => ({ ...all, [one]: one }), {});
  },
  'bytes that are joined again': (size) => {
    const list = numbers(size);
    return () => list.reduce((all) => Buffer.concat([all, Buffer.from('a')]), Buffer.alloc(0)).length;
  },
  'text that is parsed again': (size) => () => {
    let text = '"';
    for (let at = 0; at < size; at += 1) {
      text += 'a';
      JSON.parse(`${text}"`);
    }
  },
  'linear time': (size) => {
    const list = numbers(size);
    return () => {
      const names = new Map(list.map((one) => [one, String(one)]));
      return [...list.filter((one) => names.has(one))].length;
    };
  },
};
