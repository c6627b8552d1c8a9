import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/shared/contract/openapi.ts';
import { failures } from '../../src/shared/errors.ts';
import { endpoints } from '../support/endpoints.ts';

/** Words that make a sentence hard to read. User-facing text uses plain ones instead. */
const unclear = [
  ...['whoever', 'whomever', 'nobody who', 'somebody', 'who is limited', 'anew', 'is held to', 'hear of'],
  ...['hears of', 'is told', 'are told', 'tells whoever', 'so long as it', 'wishes', 'lets go of'],
  ...['one of its own', 'as it is typed', 'what there is', 'the books', 'what acts for you'],
];
const pattern = new RegExp(`\\b(?:${unclear.join('|')})\\b`, 'gi');

const guides = (await readdir('docs', { recursive: true })).filter((name) => name.endsWith('.md'));
const files = ['README.md', ...guides.map((name) => `docs/${name}`)];

test.each(files)('%s uses plain words', async (name) => {
  expect((await readFile(name, 'utf8')).match(pattern)).toBeNull();
});

test.each([
  ['error messages', failures],
  ['the OpenAPI document', openApiDocument(endpoints, { version: '1' })],
])('%s: plain words only', (_name, texts) => {
  expect(JSON.stringify(texts).match(pattern)).toBeNull();
});
