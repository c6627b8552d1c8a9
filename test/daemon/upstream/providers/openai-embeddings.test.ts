import { expect, test } from 'vitest';
import { openAiEmbeddings } from '../../../../src/daemon/upstream/providers/openai-embeddings.ts';

const vector = [0.25, -0.5];
const base64 = Buffer.from(new Float32Array(vector).buffer).toString('base64');

function read(data: unknown, count: number) {
  const { vectors, inputTokens } = openAiEmbeddings({ name: 'test', baseUrl: 'http://localhost' }).read(
    { data, usage: { prompt_tokens: 3 } },
    count,
  );
  return { vectors: vectors.map((each) => Array.from(each)), inputTokens };
}

test.each([
  ['numbers', 'OpenAI', [{ index: 0, embedding: vector }]],
  ['base64', 'OpenAI', [{ index: 0, embedding: base64 }]],
  ['no index', 'spring-projects/spring-ai#7019', [{ embedding: vector }]],
  ['a list in a list', 'abetlen/llama-cpp-python#1588', [{ index: 0, embedding: [vector] }]],
])('a vector is read from %s (%s)', (_form, _cite, data) => {
  expect(read(data, 1)).toEqual({ vectors: [vector], inputTokens: 3 });
});

test.each([
  ['a vector for each token', [{ index: 0, embedding: [vector, vector] }]],
  ['a list in a list in a list', [{ index: 0, embedding: [[vector]] }]],
  ['texts', [{ index: 0, embedding: ['0.25'] }]],
  ['nothing', [{ index: 0, embedding: [] }]],
  ['two vectors', [{ embedding: vector }, { embedding: vector }]],
  ['no data', undefined],
])('no vector is read from %s', (_form, data) => {
  expect(() => read(data, 1)).toThrow('one vector for each input');
});

const other = [0.5, 0.25];

test.each([
  ['swapped', 'agno-agi/agno#10128', [1, 0], [other, vector]],
  ['all 0', 'BerriAI/litellm#25656', [0, 0], [vector, other]],
  ['those of a batch of several requests', 'xorbitsai/inference#5240', [4, 5], [vector, other]],
  ['only that of the second', 'samfoy/pi-session-search#13', [undefined, 1], [vector, other]],
])('positions that are %s (%s)', (_what, _cite, [first, second], expected) => {
  const data = [
    { index: first, embedding: vector },
    { index: second, embedding: other },
  ];
  expect(read(data, 2).vectors).toEqual(expected);
});

test.each([
  ['leave one out', [0, 2]],
  ['name one twice', [1, 1, 0]],
])('positions that %s tell nothing', (_what, positions) => {
  const data = positions.map((index) => ({ index, embedding: vector }));
  expect(() => read(data, positions.length)).toThrow('one vector for each input');
});
