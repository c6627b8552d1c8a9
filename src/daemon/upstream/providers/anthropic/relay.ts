import { unsigned } from '../../../../shared/constants/unsigned.ts';
import { listOf } from '../../../../shared/json/json-object.ts';
import type { InputItem, ReasoningItem } from '../../../features/upstreams/neutral.ts';
import type { Dropped, UpstreamCall } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json, mapChanged, objectOf } from '../../json.ts';
import { argumentsObject, isBlankText } from '../conversation.ts';
import { realType } from '../inline-data.ts';
import { isThought, ToolUseIds, thoughtBlock } from './messages.ts';

type RelayedCall = Pick<UpstreamCall, 'inference' | 'model'> & Partial<Pick<UpstreamCall, 'outputTokensMax'>>;

/**
 * The body for callers of this format: their own, with the model, the output limit and thoughts that this model accepts.
 * `dropped`: what of the caller's `thinking` could not be kept.
 */
export function relayedMessagesBody(call: RelayedCall, provider: string): { body: Json; dropped: Dropped[] } {
  const { body, stream, wantsNoAnswer } = call.inference;
  const sent: Json = { ...relayedPrompt(call, provider), stream };
  if (call.outputTokensMax !== undefined && !wantsNoAnswer) {
    if (call.outputTokensMax < Number(body.max_tokens)) fitThinking(sent, call.outputTokensMax);
    sent.max_tokens = call.outputTokensMax;
  }
  const { thinking } = sent;
  if (thinking === body.thinking) return { body: sent, dropped: [] };
  return { body: sent, dropped: [{ param: thinking ? 'thinking.budget_tokens' : 'thinking' }] };
}

/** The same without what concerns the answer alone. */
export function relayedPrompt({ inference, model }: RelayedCall, provider: string): Json {
  const { body, items } = inference;
  const messages = relayedMessages(body.messages, { items, provider, model });
  if (messages === body.messages) return { ...body, model };
  const sent: Json = { ...body, model, messages };
  if (objectOf(body.thinking)?.type === 'enabled' && !canContinueThoughts(messages))
    sent.thinking = undefined;
  return sent;
}

/** With a budget of thoughts, a turn whose calls were answered last must start with thoughts, which may have been another model's. */
function canContinueThoughts(messages: unknown): boolean {
  const all = listOf(messages).map((message) => objectOf(message) ?? {});
  if (!listOf(all.at(-1)?.content).some((block) => objectOf(block)?.type === 'tool_result')) return true;
  const turn = all.slice(
    all.findLastIndex(({ role }, at) => role !== 'assistant' && at < all.length - 1) + 1,
  );
  return isThought(objectOf(listOf(turn[0]?.content)[0]));
}

const budgetTokensMin = 1024;

/** A budget of thoughts must be below the output limit, which the model or a budget of money can make lower than requested. */
function fitThinking(sent: Json, maxTokens: number): void {
  const thinking = objectOf(sent.thinking);
  if (typeof thinking?.budget_tokens !== 'number' || thinking.budget_tokens < maxTokens) return;
  const budget = Math.floor(maxTokens * 0.8);
  sent.thinking =
    budget < budgetTokensMin
      ? undefined
      : { ...thinking, budget_tokens: Math.min(budget, thinking.budget_tokens) };
}

interface Receiver {
  items: readonly InputItem[];
  provider: string;
  model: string;
}

const acceptedId = /^[a-zA-Z0-9_-]+$/;

/**
 * The messages with thoughts that the gateway sealed as this model wrote them, and without those of other models and
 * unsigned ones, which the API refuses. Ids of calls from other providers are replaced if the API does not accept them. The
 * same list if nothing changes.
 */
function relayedMessages(messages: unknown, receiver: Receiver): unknown {
  if (!Array.isArray(messages)) return messages;
  const thoughts = receiver.items.filter((item) => item.type === 'reasoning').values();
  const ids = new Map<string, string>();
  const toolUseIds = new ToolUseIds();
  let isChanged = false;
  const relayed = messages.flatMap((message): unknown[] => {
    if (!isObject(message)) return [message];
    const { content } = message;
    const isAnswer = message.role === 'assistant';
    if (!Array.isArray(content)) {
      if (!isAnswer || typeof content !== 'string' || content.trim() !== '') return [message];
      isChanged = true;
      return [];
    }
    const blocks = content.flatMap((block): unknown[] => {
      if (!isObject(block)) return [block];
      if (isAnswer && isBlankText(block)) return [];
      if (isThought(block)) return relayedThought(block, thoughts.next().value, receiver);
      if (isAnswer && Array.isArray(block.citations)) return [withoutUnsigned(block, block.citations)];
      return [relayedImages(relayedCall(block, ids, toolUseIds))];
    });
    // The API refuses messages that end in thoughts, as an answer does that was cut off while thinking.
    while (isAnswer && isThought(objectOf(blocks.at(-1)))) blocks.pop();
    if (
      content.length > 0 &&
      blocks.length === content.length &&
      blocks.every((block, at) => block === content[at])
    )
      return [message];
    isChanged = true;
    // The API joins messages of one role, so a message without content can be left out.
    return blocks.length === 0 ? [] : [{ ...message, content: blocks }];
  });
  return isChanged ? relayed : messages;
}

/** A thought of the messages as this model accepts it. `thought` is its item; it has an origin if it was sealed. */
function relayedThought(
  block: Json,
  thought: ReasoningItem | undefined,
  { provider, model }: Receiver,
): Json[] {
  const { origin } = thought ?? {};
  if (thought === undefined || origin === undefined) return block.signature || block.data ? [block] : [];
  const own = origin.provider === provider && origin.model === model ? thoughtBlock(thought) : undefined;
  return own ? [own] : [];
}

/** A text without the citations that answers of other providers have here, which the API would refuse. */
function withoutUnsigned(block: Json, citations: readonly unknown[]): Json {
  const own = citations.filter((each) => objectOf(each)?.encrypted_index !== unsigned);
  if (own.length === citations.length) return block;
  return { ...block, citations: own.length > 0 ? own : undefined };
}

/** Images, also in results of tools, with their real type. */
function relayedImages(block: Json): Json {
  if (block.type === 'tool_result' && Array.isArray(block.content)) {
    const content = mapChanged(block.content, (each) => (isObject(each) ? relayedImages(each) : each));
    return content === block.content ? block : { ...block, content };
  }
  if (block.type !== 'image' || !isObject(block.source)) return block;
  const { media_type: type, data } = block.source;
  if (typeof type !== 'string' || typeof data !== 'string') return block;
  const real = realType(type, data);
  return real === type ? block : { ...block, source: { ...block.source, media_type: real } };
}

function relayedCall(given: Json, ids: Map<string, string>, toolUseIds: ToolUseIds): Json {
  const isObjectCall = given.type !== 'tool_use' || isObject(given.input);
  const block = isObjectCall ? given : { ...given, input: argumentsObject(String(given.input ?? '')) };
  const field = block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : undefined;
  const id = field && block[field];
  if (field === undefined || typeof id !== 'string' || acceptedId.test(id)) return block;
  const accepted = ids.get(id) ?? toolUseIds.forCall(id);
  ids.set(id, accepted);
  return { ...block, [field]: accepted };
}
