import type { FakeAnswer, FakeError } from './fake-openai-script.ts';
import { fakeVector } from './fake-vector.ts';

type Json = Record<string, unknown>;
type Input = string | number[];

/** What OpenAI rejects. Source: OpenAI's API reference, "Create embeddings". */
export function embeddingFault({ input, dimensions }: Json): FakeError | undefined {
  const invalid = (param: string, message: string): FakeError => ({
    status: 400,
    type: 'invalid_request_error',
    param,
    message,
  });
  const inputs = inputsOf(input);
  if (inputs.length === 0 || inputs.length > 2048) return invalid('input', "Invalid 'input': wrong length.");
  const bad = inputs.findIndex((each) => each.length === 0 || each === 'bad');
  if (bad >= 0) return invalid(`input[${bad}]`, `Invalid 'input[${bad}]': it cannot be embedded.`);
  const tokens = inputs.reduce((sum, each) => sum + Math.ceil(each.length / 4), 0);
  if (tokens > 300_000)
    return { ...invalid('input', 'Requested too many tokens.'), code: 'max_tokens_per_request' };
  if (typeof dimensions === 'number' && dimensions > 64)
    return invalid('dimensions', 'This model has at most 64 dimensions.');
  return undefined;
}

/** A list of vectors, last one first, as only `index` gives their order. Three tokens for each input. */
export function embeddingDocument({ usage }: FakeAnswer, body: Json): Json {
  const inputs = inputsOf(body.input);
  const show = (vector: number[]) =>
    body.encoding_format === 'base64'
      ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
      : vector;
  const data = inputs.map((input, index) => ({
    object: 'embedding',
    index,
    embedding: show(fakeVector(input, Number(body.dimensions ?? 8))),
  }));
  const tokens = inputs.length * 3;
  return {
    object: 'list',
    data: data.reverse(),
    model: body.model,
    ...(usage !== 'none' && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

function inputsOf(input: unknown): Input[] {
  if (!Array.isArray(input)) return [input as string];
  return typeof input[0] === 'number' ? [input as number[]] : (input as Input[]);
}
