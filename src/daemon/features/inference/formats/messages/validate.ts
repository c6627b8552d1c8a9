import type { CountMessageTokensBody } from '../../../../../shared/contract/messages.ts';
import { ApiError } from '../../../../../shared/errors.ts';
import { invalid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../../../shared/faults/not-found.ts';
import type { Inference } from '../../../upstreams/neutral.ts';

/** A body whose shape was checked. Requests that only count tokens have no limit. */
export type MessagesBody = CountMessageTokensBody & {
  max_tokens?: number;
  stop_sequences?: string[] | null;
};

/**
 * Refuses what Anthropic's API refuses, so that a request is valid for every provider or for none. Throws `invalid_request`,
 * or `unknown_call_id` for a result without a call, with the field at fault. Rules that differ between models are left to
 * the provider. Source: Anthropic's API reference and its pages on thinking and tool use.
 */
export function validateMessages(body: MessagesBody, betas: string): void {
  validateThinking(body, betas);
  validateToolChoice(body);
  validateStopSequences(body);
  if (Array.isArray(body.system)) validateTexts(body.system, 'system');
  validateContents(body.messages);
  validateToolResults(body.messages);
}

/** With it, the budget covers all thoughts of a turn, of which `max_tokens` limits only the next part. */
const interleavedThinkingBeta = 'interleaved-thinking';

/** Without those with a budget. Others may have one. */
const knownThinking = new Set(['adaptive', 'between_tools', 'disabled']);

function validateThinking(body: MessagesBody, betas: string): void {
  const { thinking, max_tokens: maxTokens, tool_choice: toolChoice } = body;
  if (!thinking) return;
  const budget = thinking.budget_tokens ?? undefined;
  const param = 'thinking.budget_tokens';
  if (thinking.type !== 'enabled') {
    if (budget !== undefined && knownThinking.has(thinking.type))
      throw invalid(param, 'A budget needs `thinking.type` to be enabled.');
  } else if (budget === undefined) throw invalid(param, 'This is required.');
  else if (maxTokens !== undefined && budget >= maxTokens && !betas.includes(interleavedThinkingBeta))
    throw invalid(param, `This must be less than \`max_tokens\`, which is ${maxTokens}.`);
  if (thinks(body) && (toolChoice?.type === 'any' || toolChoice?.type === 'tool'))
    throw invalid(
      'tool_choice.type',
      'A tool call cannot be forced when `thinking` is on: use auto or none.',
    );
}

function thinks({ thinking }: MessagesBody): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

const knownChoices = new Set(['auto', 'any', 'tool']);

function validateToolChoice({ tool_choice: choice, tools }: MessagesBody): void {
  if (!choice || !knownChoices.has(choice.type) || (tools && tools.length > 0)) return;
  throw invalid('tool_choice', 'This needs `tools` to choose from.');
}

function validateStopSequences({ stop_sequences: sequences }: MessagesBody): void {
  const blank = sequences?.findIndex(isBlank) ?? -1;
  if (blank < 0) return;
  throw invalid(`stop_sequences[${blank}]`, 'A stop sequence must contain more than white space.');
}

type Messages = MessagesBody['messages'];

function validateContents(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    // Some clients send system messages without content, which have no effect.
    if (!isTurn(role)) continue;
    const param = `messages[${index}].content`;
    // Models give blank answers, which clients send back: they are left out.
    if (role === 'assistant') continue;
    if (content.length === 0) throw invalid(param, 'This must not be empty, except in an assistant message.');
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
    if (block.type === 'text' && isBlank(block.text)) throw blankText(`${at}.text`);
    if (block.type === 'tool_result' && Array.isArray(block.content))
      validateTexts(block.content, `${at}.content`);
  }
}

export function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === '';
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

/** Only within a turn: some servers restart the numbers of their calls with each answer, and a result refers to the turn before. */
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

/**
 * The error of a call in this format that Anthropic would refuse for a reason that may change with its API. Providers with
 * this format judge such calls themselves; undefined if others may answer it. Source: Anthropic's API reference, and its
 * pages on thinking and prompt caching.
 */
export function anthropicRefusal(inference: Inference): ApiError | undefined {
  const body = inference.body as MessagesBody;
  return unknownMember(inference) ?? samplingFault(body) ?? cachingFault(body);
}

/** The members that requests to count tokens can have, too. */
const promptMembers = [
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'output_format'],
  ...['speed', 'user_profile_id', 'workspace_id', 'cache_control', 'context_management', 'compaction'],
  ...['mcp_servers', 'billing_policy'],
];

const countMembers = new Set(promptMembers);

const callMembers = new Set([
  ...promptMembers,
  ...['max_tokens', 'stream', 'stop_sequences', 'temperature', 'top_p', 'top_k', 'metadata'],
  ...['service_tier', 'inference_geo', 'container', 'diagnostics', 'thread'],
  ...['fallbacks', 'fallback_credit_token'],
]);

/** With a beta, which may define members that are unknown here, these are left out and reported instead. */
function unknownMember({ body, headers, outputTokensMax }: Inference): ApiError | undefined {
  if (headers?.['anthropic-beta']) return undefined;
  // Every call has `max_tokens`.
  const known = outputTokensMax === undefined ? countMembers : callMembers;
  const unknown = Object.keys(body).find((name) => !known.has(name));
  return unknown === undefined ? undefined : invalid(unknown, 'Extra inputs are not permitted.');
}

const topPMinWithThinking = 0.95;

function samplingFault(body: MessagesBody): ApiError | undefined {
  if (!thinks(body)) return undefined;
  const { temperature, top_p: topP, top_k: topK } = body as Json;
  if (typeof temperature === 'number' && temperature !== 1)
    return invalid('temperature', 'This must be 1 or absent when `thinking` is on.');
  if (typeof topP === 'number' && topP < topPMinWithThinking)
    return invalid(
      'top_p',
      `This must be at least ${topPMinWithThinking} or absent when \`thinking\` is on.`,
    );
  if (typeof topK === 'number') return invalid('top_k', 'This must be absent when `thinking` is on.');
  return undefined;
}

const cacheBreakpointsMax = 4;

/** Breakpoints are few, and those for an hour come before those for five minutes. */
function cachingFault(body: MessagesBody): ApiError | undefined {
  const automatic = { block: body as Json, param: '' };
  const explicit = [
    ...located(body.tools, 'tools'),
    ...located(body.system, 'system'),
    ...body.messages.flatMap(({ content }, index) => located(content, `messages[${index}].content`)),
  ];
  const marked = [...explicit, automatic].filter(({ block }) => (block.cache_control ?? null) !== null);
  let isShort = false;
  for (const { block, param } of marked) {
    const at = param === '' ? 'cache_control' : `${param}.cache_control`;
    const control = block.cache_control;
    if (!isObject(control)) return invalid(at, 'This must be an object.');
    if (isThought(block)) return invalid(at, 'Thoughts cannot be marked for the cache.');
    if (control.type !== 'ephemeral') return invalid(`${at}.type`, 'This must be ephemeral.');
    const ttl = control.ttl ?? '5m';
    if (ttl !== '5m' && ttl !== '1h') return invalid(`${at}.ttl`, 'This must be 5m or 1h.');
    if (isShort && ttl === '1h' && block !== automatic.block)
      return invalid(`${at}.ttl`, 'A block with 1h must not come after a block with 5m.');
    isShort ||= ttl === '5m';
  }
  if (marked.length <= cacheBreakpointsMax) return undefined;
  const { param } = marked[cacheBreakpointsMax] ?? automatic;
  return invalid(
    param === '' ? 'cache_control' : `${param}.cache_control`,
    `At most ${cacheBreakpointsMax} blocks can have \`cache_control\`. Found ${marked.length}.`,
  );
}

/** The blocks of a list, and those in results of tools. */
function located(blocks: unknown, param: string): Located[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block, index): Located[] => {
    if (!isObject(block)) return [];
    const at = `${param}[${index}]`;
    const inner = block.type === 'tool_result' ? located(block.content, `${at}.content`) : [];
    return [...inner, { block, param: at }];
  });
}

function isThought({ type }: Json): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

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

function isTurn(role: string): boolean {
  return role === 'user' || role === 'assistant';
}

function turnsOf(messages: Messages): Turn[] {
  const turns: Turn[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    // A system message can be anywhere after a user's.
    if (!isTurn(role)) continue;
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
