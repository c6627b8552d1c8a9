import assert from 'node:assert/strict';
import { z } from 'zod';
import { SseReader } from '../../src/shared/http/sse.ts';

const text = z.string();
const count = z.int().nonnegative();

const StopReason = z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal']);
const Details = z
  .strictObject({ type: z.literal('refusal'), category: text.nullable(), explanation: text.nullable() })
  .nullable();
const counts = {
  cache_creation_input_tokens: count.nullable(),
  cache_read_input_tokens: count.nullable(),
  output_tokens: count,
  output_tokens_details: z.strictObject({ thinking_tokens: count }).nullable().optional(),
  server_tool_use: z.looseObject({}).nullable().optional(),
};
const Usage = z.strictObject({
  ...counts,
  input_tokens: count,
  cache_creation: z.looseObject({}).nullable().optional(),
  inference_geo: text.nullable().optional(),
  service_tier: z.enum(['standard', 'priority', 'batch']).nullable().optional(),
  speed: text.nullable().optional(),
});
const DeltaUsage = z.strictObject({ ...counts, input_tokens: count.nullable() });

const Text = z.strictObject({ type: z.literal('text'), text, citations: z.array(z.unknown()).optional() });
const Thinking = z.strictObject({ type: z.literal('thinking'), thinking: text, signature: text });
const Redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: text.min(1) });
const ToolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: text.regex(/^[a-zA-Z0-9_-]+$/),
  name: text.min(1),
  input: z.record(text, z.unknown()),
  caller: z.strictObject({ type: z.literal('direct') }).optional(),
});
const Block = z.discriminatedUnion('type', [Text, Thinking, Redacted, ToolUse]);
type Block = z.infer<typeof Block>;

const label = {
  id: text.regex(/^msg_/),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: text.min(1),
  container: z.null().optional(),
  diagnostics: z.null().optional(),
};
/** A message as strictly as the format defines it; optional is what only newer versions of the API have. */
const Message = z.strictObject({
  ...label,
  content: z.array(Block),
  stop_reason: StopReason,
  stop_sequence: text.nullable(),
  stop_details: Details.optional(),
  usage: Usage,
});
const StartedMessage = z.strictObject({
  ...label,
  content: z.array(z.never()),
  stop_reason: z.null(),
  stop_sequence: z.null(),
  stop_details: z.null().optional(),
  usage: Usage,
});

const Delta = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text_delta'), text }),
  z.strictObject({ type: z.literal('thinking_delta'), thinking: text }),
  z.strictObject({ type: z.literal('signature_delta'), signature: text.min(1) }),
  z.strictObject({ type: z.literal('input_json_delta'), partial_json: text }),
]);
const Event = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('message_start'), message: StartedMessage }),
  z.strictObject({ type: z.literal('content_block_start'), index: count, content_block: Block }),
  z.strictObject({ type: z.literal('content_block_delta'), index: count, delta: Delta }),
  z.strictObject({ type: z.literal('content_block_stop'), index: count }),
  z.strictObject({
    type: z.literal('message_delta'),
    delta: z.strictObject({
      stop_reason: StopReason,
      stop_sequence: text.nullable(),
      stop_details: Details.optional(),
      container: z.null().optional(),
    }),
    usage: DeltaUsage,
  }),
  z.strictObject({ type: z.literal('message_stop') }),
  z.strictObject({ type: z.literal('ping') }),
  z.strictObject({
    type: z.literal('error'),
    error: z.strictObject({ type: text.regex(/_error$/), message: text.min(1) }),
    request_id: text.regex(/^req_/),
  }),
]);
type Event = z.infer<typeof Event>;

/** What an answer amounts to, streamed or whole. */
export interface MessageOutcome {
  text: string;
  thinking: string;
  /** The signatures and data of thoughts. */
  sealed: string[];
  calls: { id: string; name: string; input: unknown }[];
  stop: string;
  stopSequence: string | null;
  content: Record<string, unknown>[];
  usage: { input_tokens: number | null; output_tokens: number };
}

/** Parses the events of a stream, strictly. `chunks` are the chunks of the HTTP body. */
export function messageEvents(chunks: readonly string[]): Event[] {
  const encoder = new TextEncoder();
  const reader = new SseReader();
  return chunks
    .flatMap((chunk) => {
      assert.match(chunk, /\n\n$/, 'a chunk ends with a blank line');
      return reader.push(encoder.encode(chunk));
    })
    .map(({ event, data }) => {
      const parsed = Event.safeParse(JSON.parse(data));
      assert.ok(parsed.success, `${parsed.error?.message}\n${data}`);
      assert.equal(event, parsed.data.type, 'an event is named by its type');
      return parsed.data;
    });
}

/** Checks a whole stream against the format, and assembles its message as a client would. */
export function checkMessageStream(chunks: readonly string[]): MessageOutcome {
  const events = messageEvents(chunks).filter(({ type }) => type !== 'ping');
  const [first] = events;
  assert.equal(first?.type, 'message_start');
  assert.equal(events.at(-1)?.type, 'message_stop');
  assert.equal(events.at(-2)?.type, 'message_delta');
  const content: (Block & { json?: string })[] = [];
  let open: number | undefined;
  for (const event of events.slice(1, -2)) {
    switch (event.type) {
      case 'content_block_start':
        assert.equal(open, undefined, 'a block starts after the end of the one before');
        assert.equal(event.index, content.length, 'blocks are numbered from 0');
        open = event.index;
        content.push(event.content_block);
        break;
      case 'content_block_delta':
        assert.equal(event.index, open, 'a delta belongs to the open block');
        addDelta(content[event.index], event.delta);
        break;
      case 'content_block_stop':
        assert.equal(event.index, open, 'the open block ends');
        open = undefined;
        break;
      default:
        assert.fail(`${event.type} in the middle of a stream`);
    }
  }
  assert.equal(open, undefined, 'all blocks have ended');
  const end = events.at(-2);
  assert.ok(end?.type === 'message_delta' && first.type === 'message_start');
  const blocks = content.map(({ json, ...block }) =>
    block.type === 'tool_use' && json ? { ...block, input: JSON.parse(json) } : block,
  );
  return outcomeOf(blocks, end.delta, end.usage);
}

function addDelta(block: (Block & { json?: string }) | undefined, delta: z.infer<typeof Delta>): void {
  if (delta.type === 'text_delta' && block?.type === 'text') block.text += delta.text;
  else if (delta.type === 'thinking_delta' && block?.type === 'thinking') block.thinking += delta.thinking;
  else if (delta.type === 'signature_delta' && block?.type === 'thinking') block.signature = delta.signature;
  else if (delta.type === 'input_json_delta' && block?.type === 'tool_use')
    block.json = (block.json ?? '') + delta.partial_json;
  else assert.fail(`${delta.type} in a block of type ${block?.type}`);
}

/** Checks a whole JSON answer against the format. */
export function checkMessage(json: unknown): MessageOutcome {
  const parsed = Message.safeParse(json);
  assert.ok(parsed.success, `${parsed.error?.message}\n${JSON.stringify(json)}`);
  const { content, usage, ...end } = parsed.data;
  return outcomeOf(content, end, usage);
}

function outcomeOf(
  content: Block[],
  end: { stop_reason: string; stop_sequence: string | null },
  usage: MessageOutcome['usage'],
): MessageOutcome {
  const { stop_reason: stop, stop_sequence: stopSequence } = end;
  const calls = content.filter((block) => block.type === 'tool_use');
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, 'ids of calls differ');
  if (stop === 'tool_use') assert.ok(calls.length > 0);
  if (stop === 'end_turn') assert.equal(calls.length, 0);
  assert.equal(stopSequence !== null, stop === 'stop_sequence');
  const hasText = content.some(({ type }) => type === 'text');
  if (hasText) assert.notEqual(content.at(-1)?.type, 'redacted_thinking', 'thoughts are not the answer');
  const thoughts = content.filter((block) => block.type === 'thinking');
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: thoughts.map(({ thinking }) => thinking).join(''),
    sealed: content.flatMap((block) =>
      block.type === 'thinking' ? [block.signature] : block.type === 'redacted_thinking' ? [block.data] : [],
    ),
    calls: calls.map(({ id, name, input }) => ({ id, name, input })),
    stop,
    stopSequence,
    content,
    usage,
  };
}
