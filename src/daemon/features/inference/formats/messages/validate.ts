import type { CountMessageTokensBody } from '../../../../../shared/contract/messages.ts';
import { ApiError } from '../../../../../shared/errors.ts';
import { invalid, isObject, type Json, quoted } from '../../fault.ts';

/** A body whose shape was checked. Requests that only count tokens have no limit. */
export type MessagesBody = CountMessageTokensBody & { max_tokens?: number };

/**
 * Refuses what Anthropic's API refuses, so that a request is valid for every provider or for none. Throws `invalid_request`,
 * or `unknown_call_id` for a result without a call, with the field at fault. Rules that differ between models are left to
 * the provider. Source: Anthropic's API reference and its pages on thinking and tool use.
 */
export function validateMessages(body: MessagesBody, betas: string): void {
  validateThinking(body, betas);
  validateToolChoice(body);
  if (Array.isArray(body.system)) validateTexts(body.system, 'system');
  validateContents(body.messages);
  validateToolResults(body.messages);
}

/** With it, the budget covers all thoughts of a turn, of which `max_tokens` limits only the next part. */
const interleavedThinkingBeta = 'interleaved-thinking';

function validateThinking(body: MessagesBody, betas: string): void {
  const { thinking, max_tokens: maxTokens, tool_choice: toolChoice } = body;
  if (!thinking) return;
  const budget = thinking.budget_tokens ?? undefined;
  const param = 'thinking.budget_tokens';
  if (thinking.type !== 'enabled') {
    if (budget !== undefined) throw invalid(param, 'A budget needs `thinking.type` to be enabled.');
  } else if (budget === undefined) throw invalid(param, 'This is required.');
  else if (maxTokens !== undefined && budget >= maxTokens && !betas.includes(interleavedThinkingBeta))
    throw invalid(param, `This must be less than \`max_tokens\`, which is ${maxTokens}.`);
  const thinks = thinking.type === 'enabled' || thinking.type === 'adaptive';
  if (thinks && (toolChoice?.type === 'any' || toolChoice?.type === 'tool'))
    throw invalid(
      'tool_choice.type',
      'A tool call cannot be forced when `thinking` is on: use auto or none.',
    );
}

function validateToolChoice({ tool_choice: choice, tools }: MessagesBody): void {
  if (!choice || choice.type === 'none' || (tools && tools.length > 0)) return;
  throw invalid('tool_choice', 'This needs `tools` to choose from.');
}

type Messages = MessagesBody['messages'];

function validateContents(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    // Some clients send system messages without content, which have no effect.
    if (role === 'system') continue;
    const param = `messages[${index}].content`;
    const isFinalAnswer = role === 'assistant' && index === messages.length - 1;
    if (content.length === 0 && !isFinalAnswer)
      throw invalid(param, 'This must not be empty, except in a final assistant message.');
    if (typeof content === 'string') {
      if (content !== '' && isBlank(content)) throw blankText(param);
    } else validateTexts(content, param);
  }
}

/** Refuses blank text in blocks and in the results of tools. */
function validateTexts(blocks: readonly unknown[], param: string): void {
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue;
    const at = `${param}[${index}]`;
    if (block.type === 'text' && typeof block.text === 'string' && isBlank(block.text))
      throw blankText(`${at}.text`);
    if (block.type === 'tool_result' && Array.isArray(block.content))
      validateTexts(block.content, `${at}.content`);
  }
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function blankText(param: string) {
  return invalid(param, 'Text must contain more than white space.');
}

/** A block and its path. */
interface Located {
  block: Json;
  param: string;
}

/** Consecutive messages of one role, which the API joins. */
interface Turn {
  role: string;
  param: string;
  blocks: Located[];
}

/** Each tool call has its result at the start of the next turn, and each result its call in the turn before. */
function validateToolResults(messages: Messages): void {
  const turns = turnsOf(messages);
  for (const [index, turn] of turns.entries()) {
    for (const { block, param } of turn.blocks) {
      if (block.type === 'tool_use' && turn.role !== 'assistant')
        throw invalid(param, 'A `tool_use` block can only be in an assistant message.');
      if (block.type === 'tool_result' && turn.role !== 'user')
        throw invalid(param, 'A `tool_result` block can only be in a user message.');
    }
    validateResults(turn, turns[index - 1]);
    validateCallIds(turn);
    validateCalls(turn, turns[index + 1]);
  }
}

/** Only within a turn: some servers count their calls anew for each answer, and a result names a call of the turn before. */
function validateCallIds({ blocks }: Turn): void {
  const ids = new Set<unknown>();
  for (const { block, param } of blocks) {
    if (block.type !== 'tool_use' || typeof block.id !== 'string') continue;
    if (ids.has(block.id)) throw invalid(`${param}.id`, 'The ids of `tool_use` blocks must be unique.');
    ids.add(block.id);
  }
}

function validateCalls({ param, blocks }: Turn, next: Turn | undefined): void {
  const end = next?.blocks.findIndex(({ block }) => block.type !== 'tool_result') ?? 0;
  const results = end < 0 ? next?.blocks : next?.blocks.slice(0, end);
  const answered = new Set(results?.map(({ block }) => block.tool_use_id));
  const missing = blocks.flatMap(({ block }) =>
    block.type === 'tool_use' && typeof block.id === 'string' && !answered.has(block.id) ? [block.id] : [],
  );
  if (missing.length === 0) return;
  const ids = missing.slice(0, idsShown).map(quoted).join(', ');
  throw invalid(
    param,
    `The next message must start with a \`tool_result\` block for each \`tool_use\` block. Without one: ${ids}.`,
  );
}

const idsShown = 5;

function validateResults({ blocks }: Turn, before: Turn | undefined): void {
  const results = blocks.filter(({ block }) => block.type === 'tool_result');
  if (results.length === 0) return;
  const called = new Set(
    before?.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? [block.id] : [])),
  );
  for (const { block, param } of results) {
    // Other types are refused when the block is read.
    if (typeof block.tool_use_id !== 'string') continue;
    if (!called.has(block.tool_use_id)) {
      throw new ApiError('unknown_call_id', {
        param: `${param}.tool_use_id`,
        message: `There is no \`tool_use\` block with the id ${quoted(block.tool_use_id)} in the previous message.`,
      });
    }
  }
}

function turnsOf(messages: Messages): Turn[] {
  const turns: Turn[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    // A system message can be anywhere after a user's.
    if (role === 'system') continue;
    const param = `messages[${index}]`;
    const blocks = Array.isArray(content)
      ? content.map((block, at) => ({ block: block as Json, param: `${param}.content[${at}]` }))
      : [{ block: { type: 'text', text: content }, param: `${param}.content` }];
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, param, blocks });
  }
  return turns;
}
