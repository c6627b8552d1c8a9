import { parseArguments } from '../../../../shared/json/json-text.ts';
import type { Batch } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Adapter, Decoder } from '../../adapter.ts';
import { isObject, type Json, objectOf, objectsOf, textOf } from '../../json.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { billedIn } from '../billed.ts';
import { argumentsIn, unreadableArguments } from '../call-arguments.ts';
import { CallIds, toolNameIn, withoutRepeated } from '../call-ids.ts';
import { isBlankText } from '../conversation.ts';
import { endedWith } from '../finish-reasons.ts';
import { unnamedCall } from '../provider-failures.ts';
import { MessagesDialect, type Origin } from './dialect.ts';
import { rightStopReason } from './stop-reason.ts';
import { reportedTokens, withCompactions } from './usage.ts';

/** Decodes a Messages stream. `hasFrames`: whether the caller speaks the format, so that events can be relayed. */
export function messagesDecoder(origin: Origin, { hasFrames }: { hasFrames: boolean }): Decoder {
  return new SseJsonDecoder(origin.provider, new MessagesDialect(origin), { hasFrames });
}

/**
 * Reads usage and outcome of a whole message, and corrects in place what clients could not handle. Throws an UpstreamFailure
 * if it is something else.
 */
export function readMessage(json: Json, provider: string): ReturnType<NonNullable<Adapter['readAnswer']>> {
  if (typeof json.content === 'string') json.content = [{ type: 'text', text: json.content }];
  if (!Array.isArray(json.content))
    throw new UpstreamFailure('broken', `${provider} answered without content`);
  const typed = objectsOf(json.content).filter(({ type }) => textOf(type) !== undefined);
  const blocks = withoutRepeated(typed, ({ type, id }) => (type === 'tool_use' ? id : undefined));
  const usage = objectOf(json.usage);
  if (usage) json.usage = withCompactions(usage);
  const hasCalls = blocks.some(({ type }) => type === 'tool_use');
  const isUsable = blocks.some(({ type, text }) =>
    type === 'text' ? textOf(text)?.trim() : type !== 'thinking',
  );
  const { reason: finish, ...word } = endedWith(textOf(json.stop_reason), { provider, isUsable });
  // The format refuses blank text when it is sent back.
  json.content = blocks.filter((block) => !isBlankText(block));
  repairBlocks(blocks, { provider, isCut: finish !== 'stop' });
  json.stop_reason = rightStopReason(json.stop_reason, { finish, hasCalls });
  return { tokens: usage && reportedTokens(usage), ...billedIn(usage), finish, ...word };
}

function repairBlocks(
  blocks: readonly Json[],
  { provider, isCut }: { provider: string; isCut: boolean },
): void {
  const ids = new CallIds();
  for (const block of blocks) {
    if (block.type === 'thinking') block.signature ??= '';
    if (block.type !== 'tool_use') continue;
    block.name = toolNameIn(block.name);
    if (block.name === '') throw unnamedCall(provider);
    block.id = ids.unique(block.id);
    const text = argumentsIn(block.input) ?? (isCut ? '{}' : undefined);
    if (text === undefined) throw unreadableArguments(provider, block.name);
    if (!isObject(block.input)) block.input = parseArguments(text);
  }
}

/** Converts a whole message to the batch that a stream would give. */
export function messageAsBatch(json: Json, origin: Origin, { hasFrames }: { hasFrames: boolean }): Batch {
  const { usage } = json;
  const { providerReason } = readMessage(json, origin.provider);
  json.usage = usage;
  const batch: Batch = { events: [], frames: hasFrames ? [] : undefined };
  const dialect = new MessagesDialect(origin);
  for (const event of eventsOf(json)) dialect.take(event, JSON.stringify(event), batch);
  const end = batch.events.at(-1);
  if (end?.type === 'finished' && providerReason !== undefined) end.providerReason = providerReason;
  return batch;
}

/** The events by which a stream sends a message. */
function* eventsOf(message: Json): Generator<Json> {
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = message;
  yield {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, stop_sequence: null },
  };
  for (const [index, block] of objectsOf(content).entries()) {
    const { empty, deltas } = blockParts(block);
    yield { type: 'content_block_start', index, content_block: empty };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details, container }, usage };
  yield { type: 'message_stop' };
}

/** A block as a stream starts it, and what follows. */
function blockParts(block: Json): { empty: Json; deltas: Json[] } {
  switch (block.type) {
    case 'text':
      return { empty: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }] };
    case 'thinking': {
      const { thinking, signature } = block;
      const empty = { ...block, thinking: '', signature: '' };
      return {
        empty,
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      };
    }
    case 'tool_use': {
      const json = JSON.stringify(block.input ?? {});
      return { empty: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] };
    }
    default:
      return { empty: block, deltas: [] };
  }
}
