import assert from 'node:assert/strict';
import { z } from 'zod';
import { SseReader } from '../../src/shared/http/sse.ts';

const text = z.string();
const count = z.int().nonnegative();

const Usage = z
  .strictObject({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: z.looseObject({ cached_tokens: count }),
    completion_tokens_details: z.looseObject({ reasoning_tokens: count }),
    cost_usd: text.nullable(),
  })
  .refine((usage) => usage.total_tokens === usage.prompt_tokens + usage.completion_tokens);

const CallDelta = z.strictObject({
  index: count,
  id: text.min(1).optional(),
  type: z.literal('function').optional(),
  function: z.strictObject({ name: text.min(1).optional(), arguments: text.optional() }),
});
const ReasoningDetail = z.strictObject({
  type: z.literal('reasoning.encrypted'),
  data: text.startsWith('gws1.'),
  id: text,
  format: text,
  index: count,
});
const Delta = z.strictObject({
  role: z.literal('assistant').optional(),
  content: text.nullable().optional(),
  refusal: text.nullable().optional(),
  reasoning_content: text.optional(),
  reasoning_details: z.array(ReasoningDetail).optional(),
  tool_calls: z.array(CallDelta).optional(),
});
const Logprobs = z.looseObject({ content: z.array(z.unknown()).nullable() }).nullable();
const finish = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);

/** A chunk as strictly as the format puts it; what is optional is what providers of the format add themselves. */
const Chunk = z.strictObject({
  id: text.regex(/^chatcmpl-/),
  object: z.literal('chat.completion.chunk'),
  created: z.int().positive(),
  model: text,
  choices: z
    .array(
      z.strictObject({
        index: z.literal(0),
        delta: Delta,
        logprobs: Logprobs.optional(),
        finish_reason: finish.nullable(),
      }),
    )
    .max(1),
  usage: Usage.nullable().optional(),
  system_fingerprint: text.nullable().optional(),
  service_tier: text.nullable().optional(),
});
type Chunk = z.infer<typeof Chunk>;

const ToolCall = z.strictObject({
  id: text.min(1).max(64),
  type: z.literal('function'),
  function: z.strictObject({ name: text.min(1), arguments: text }),
});
const Message = z.strictObject({
  role: z.literal('assistant'),
  content: text.nullable(),
  refusal: text.nullable(),
  tool_calls: z.array(ToolCall).min(1).optional(),
  reasoning_content: text.optional(),
  reasoning_details: z.array(ReasoningDetail).optional(),
  annotations: z.array(z.unknown()).optional(),
});
const Completion = z.strictObject({
  id: text.regex(/^chatcmpl-/),
  object: z.literal('chat.completion'),
  created: z.int().positive(),
  model: text,
  choices: z
    .array(
      z.strictObject({ index: z.literal(0), message: Message, logprobs: Logprobs, finish_reason: finish }),
    )
    .length(1),
  // The cost of a JSON answer is in `service`.
  usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  service: z.looseObject({ provider: text, charged_usd: text }),
  system_fingerprint: text.nullable().optional(),
  service_tier: text.nullable().optional(),
});

/** What an answer comes to, from whichever form it had. */
export interface ChatOutcome {
  content: string;
  refusal: string;
  reasoning: string;
  sealed: number;
  calls: { id: string; name: string; arguments: string }[];
  finish: string;
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | undefined;
}

/** Holds a whole chat stream to the format. `chunks` are the chunks of the HTTP body. */
export function checkChatStream(
  chunks: readonly string[],
  { includesUsage }: { includesUsage: boolean },
): ChatOutcome {
  const outcome: ChatOutcome = emptyOutcome();
  const read = dataIn(chunks).map((data): Chunk => {
    const parsed = Chunk.safeParse(JSON.parse(data));
    assert.ok(parsed.success, `${parsed.error?.message}\n${data}`);
    return parsed.data;
  });
  const [first] = read;
  assert.equal(first?.choices[0]?.delta.role, 'assistant', 'the role comes first');
  read.forEach((chunk, at) => {
    for (const member of ['id', 'created', 'model'] as const) assert.equal(chunk[member], first?.[member]);
    const [choice] = chunk.choices;
    if (!choice) {
      assert.ok(
        includesUsage && at === read.length - 1,
        'only the last chunk has no choice, if usage was asked for',
      );
      assert.ok(chunk.usage);
      outcome.usage = chunk.usage;
      return;
    }
    if (includesUsage) assert.equal(chunk.usage, null, 'every chunk but the last has usage: null');
    assert.equal(outcome.finish, '', 'no choice comes after the finish reason');
    if (at > 0) assert.equal(choice.delta.role, undefined, 'the role comes once');
    addDelta(outcome, choice.delta);
    if (choice.finish_reason) {
      assert.deepEqual(choice.delta, {}, 'the finish reason has a chunk of its own');
      outcome.finish = choice.finish_reason;
    }
  });
  assert.notEqual(outcome.finish, '', 'the stream has a finish reason');
  assert.equal(outcome.usage !== undefined, includesUsage);
  checkCalls(outcome);
  return outcome;
}

/** The data of the events before `[DONE]`. Chat streams have no named events. */
export function dataIn(chunks: readonly string[]): string[] {
  const encoder = new TextEncoder();
  const reader = new SseReader();
  const events = chunks.flatMap((chunk) => {
    assert.match(chunk, /\n\n$/, 'a chunk ends with a blank line');
    assert.doesNotMatch(chunk, /^event:/m);
    return reader.push(encoder.encode(chunk));
  });
  assert.equal(events.pop()?.data, '[DONE]', 'the last data is [DONE]');
  return events.map(({ data }) => data);
}

function emptyOutcome(): ChatOutcome {
  return { content: '', refusal: '', reasoning: '', sealed: 0, calls: [], finish: '', usage: undefined };
}

function addDelta(outcome: ChatOutcome, delta: z.infer<typeof Delta>): void {
  outcome.content += delta.content ?? '';
  outcome.refusal += delta.refusal ?? '';
  outcome.reasoning += delta.reasoning_content ?? '';
  outcome.sealed += delta.reasoning_details?.length ?? 0;
  for (const { index, id, type, function: called } of delta.tool_calls ?? []) {
    const known = outcome.calls[index];
    if (known) {
      assert.deepEqual(
        [id, type, called.name],
        [undefined, undefined, undefined],
        'later pieces of a call are arguments alone',
      );
      known.arguments += called.arguments ?? '';
      continue;
    }
    assert.equal(index, outcome.calls.length, 'calls are numbered from 0');
    assert.ok(id && type && called.name, 'the first piece of a call has id, type and name');
    outcome.calls.push({ id, name: called.name, arguments: called.arguments ?? '' });
  }
}

function checkCalls({ calls, finish }: ChatOutcome): void {
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, 'call ids differ');
  if (finish === 'tool_calls') assert.ok(calls.length > 0);
  if (finish === 'stop') assert.equal(calls.length, 0);
  if (finish === 'tool_calls') for (const call of calls) JSON.parse(call.arguments);
}

/** Holds a whole JSON answer to the format. */
export function checkChat(json: unknown): ChatOutcome {
  const parsed = Completion.safeParse(json);
  assert.ok(parsed.success, `${parsed.error?.message}\n${JSON.stringify(json)}`);
  const { choices, usage } = parsed.data;
  const [choice] = choices;
  assert.ok(choice);
  const { message, finish_reason } = choice;
  const outcome: ChatOutcome = {
    content: message.content ?? '',
    refusal: message.refusal ?? '',
    reasoning: message.reasoning_content ?? '',
    sealed: message.reasoning_details?.length ?? 0,
    calls: (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called })),
    finish: finish_reason,
    usage,
  };
  checkCalls(outcome);
  return outcome;
}
