/**
 * A model file that the real library loads: the llama architecture with one layer, random weights and a vocabulary of
 * single characters, about 140 KB. Source: the specification of the GGUF format, version 3.
 */
export function tinyGguf({ seed = 42, contextTokens = 2048 } = {}): Buffer {
  const { tokens, types } = vocabulary();
  const size = { embedding: 32, feedForward: 64, heads: 2 };
  const metadata: [string, Value][] = [
    ['general.architecture', text('llama')],
    ['general.name', text('tiny')],
    ['llama.block_count', uint32(1)],
    ['llama.context_length', uint32(contextTokens)],
    ['llama.embedding_length', uint32(size.embedding)],
    ['llama.feed_forward_length', uint32(size.feedForward)],
    ['llama.attention.head_count', uint32(size.heads)],
    ['llama.attention.head_count_kv', uint32(size.heads)],
    ['llama.rope.dimension_count', uint32(size.embedding / size.heads)],
    ['llama.attention.layer_norm_rms_epsilon', float32(1e-5)],
    ['llama.vocab_size', uint32(tokens.length)],
    ['tokenizer.ggml.model', text('llama')],
    ['tokenizer.ggml.tokens', array(tokens.map(text))],
    ['tokenizer.ggml.scores', array(tokens.map((_, at) => float32(-at)))],
    ['tokenizer.ggml.token_type', array(types.map(int32))],
    ['tokenizer.ggml.bos_token_id', uint32(1)],
    ['tokenizer.ggml.eos_token_id', uint32(tokens.indexOf('<|im_end|>'))],
    ['tokenizer.chat_template', text(chatTemplate)],
  ];
  const { embedding, feedForward } = size;
  const square = [embedding, embedding];
  const tensors: [string, number[]][] = [
    ['token_embd.weight', [embedding, tokens.length]],
    ['output_norm.weight', [embedding]],
    ['output.weight', [embedding, tokens.length]],
    ['blk.0.attn_norm.weight', [embedding]],
    ...['q', 'k', 'v', 'output'].map((part): [string, number[]] => [`blk.0.attn_${part}.weight`, square]),
    ['blk.0.ffn_norm.weight', [embedding]],
    ['blk.0.ffn_gate.weight', [embedding, feedForward]],
    ['blk.0.ffn_up.weight', [embedding, feedForward]],
    ['blk.0.ffn_down.weight', [feedForward, embedding]],
  ];
  const random = randomNumbers(seed);
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [name, shape] of tensors) {
    const weights = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () =>
      shape.length === 1 ? 1 : random() * 0.6,
    );
    infos.push(string(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    const bytes = padded(Buffer.from(weights.buffer));
    data.push(bytes);
    offset += bytes.length;
  }
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(tensors.length),
    u64(metadata.length),
    ...metadata.flatMap(([name, { type, bytes }]) => [string(name), u32(type), bytes]),
    ...infos,
  ]);
  return Buffer.concat([padded(head), ...data]);
}

const chatTemplate =
  "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}" +
  '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}';

/** Token types of GGUF. */
const [normal, unknown, control, byte] = [1, 2, 3, 6];

function vocabulary(): { tokens: string[]; types: number[] } {
  const special = ['<s>', '</s>', '<|im_start|>', '<|im_end|>'];
  const bytes = Array.from(
    { length: 256 },
    (_, value) => `<0x${value.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at));
  // The first is how the tokenizer writes a space.
  const characters = ['\u2581', ...visible];
  return {
    tokens: ['<unk>', ...special, ...bytes, ...characters],
    types: [
      unknown,
      ...special.map(() => control),
      ...bytes.map(() => byte),
      ...characters.map(() => normal),
    ] as number[],
  };
}

/** From -0.5 to 0.5, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

/** A value of the metadata, with its type in GGUF. */
interface Value {
  type: number;
  bytes: Buffer;
}

const uint32 = (value: number): Value => ({ type: 4, bytes: u32(value) });
const int32 = (value: number): Value => ({ type: 5, bytes: u32(value) });
const float32 = (value: number): Value => ({ type: 6, bytes: Buffer.from(Float32Array.of(value).buffer) });
const text = (value: string): Value => ({ type: 8, bytes: string(value) });
const array = (values: Value[]): Value => ({
  type: 9,
  bytes: Buffer.concat([u32(values[0]?.type ?? 0), u64(values.length), ...values.map(({ bytes }) => bytes)]),
});

function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

function u64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)]);
}
