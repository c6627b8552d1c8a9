import { expect, test } from 'vitest';
import type { TraceContent } from '../../src/shared/contract/content.ts';
import { readOn, textWith } from '../../src/view/call-text.ts';

type Page = Pick<TraceContent, 'request' | 'answer'>;

const page = (text: string, next: number | null): Page => ({
  request: {
    headers: [],
    body: { text, at: 0, next, bytes: 6, is_partial: false },
  } as unknown as Page['request'],
  answer: null,
});

const nothing: Page = { request: null, answer: null };

/** Reads from the first page on, with the later ones by where they begin; `asked` are these. */
async function read(first: Page, later: Record<number, Page>, max?: number) {
  const asked: number[] = [];
  const begun = textWith(first, 'request');
  const pageAt = async (at: number) => {
    asked.push(at);
    return later[at] ?? nothing;
  };
  const text = begun && (await readOn(begun, 'request', pageAt, max === undefined ? {} : { max }));
  return { asked, text };
}

test('a text is read to its end, or as far as is wanted', async () => {
  const later = { 2: page('cd', 4), 4: page('ef', null) };
  expect(await read(page('ab', 2), later)).toEqual({
    asked: [2, 4],
    text: { text: 'abcdef', bytes: 6, next: null, isPartial: false },
  });
  expect((await read(page('ab', 2), later, 3)).text).toMatchObject({ text: 'abcd', next: 4 });
});

test('nothing is read where nothing is kept', async () => {
  expect(await read(nothing, {})).toEqual({ asked: [], text: undefined });
});

test('what is deleted while it is read is partial', async () => {
  expect((await read(page('ab', 2), {})).text).toMatchObject({ text: 'ab', next: null, isPartial: true });
});

test('a host that repeats itself is not asked for ever', async () => {
  expect((await read(page('ab', 2), { 2: page('ab', 2) })).asked).toEqual([2]);
});
