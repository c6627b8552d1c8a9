import type { Json, ReceivedRequest } from './scripted-provider.ts';

export interface AnthropicRefusal {
  status: number;
  type: string;
  message: string;
}

/** Thrown and caught in this file. */
class Refused extends Error {}

/**
 * Why the Messages API would refuse a request; undefined if it is valid. `sign` returns the signature of the requested
 * model's thoughts. The messages are similar to the API's.
 */
export function refusalOf(
  request: ReceivedRequest,
  sign: (thinking: string) => string,
): AnthropicRefusal | undefined {
  try {
    check(request, sign);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { status: 400, type: 'invalid_request_error', message: error.message };
  }
}

const versions = new Set(['2023-06-01', '2026-10-21']);

const fields = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'stream',
  'cache_control',
]);

function check({ headers, body }: ReceivedRequest, sign: (thinking: string) => string): void {
  must(versions.has(String(headers['anthropic-version'])), 'anthropic-version: header is required');
  must(headers['content-type']?.startsWith('application/json'), 'content-type must be application/json');
  for (const field of Object.keys(body)) must(fields.has(field), `${field}: Extra inputs are not permitted`);
  must(typeof body.model === 'string', 'model: Field required');
  must(Number.isInteger(body.max_tokens) && Number(body.max_tokens) >= 0, 'max_tokens: Field required');
  checkSystem(body.system);
  checkTools(body);
  checkThinking(body, headers['anthropic-beta']);
  checkSampling(body);
  checkFormat(body);
  // Clients that name a beta may send system messages between the turns.
  const turns = list(body.messages).filter(({ role }) => role !== 'system' || !headers['anthropic-beta']);
  checkMessages(joined(turns), sign);
  checkEnds(body);
}

function checkSystem(system: unknown): void {
  for (const block of Array.isArray(system) ? (system as Json[]) : [])
    must(block.type === 'text' && !isBlank(block.text), 'system: text content blocks must be non-empty');
}

function checkTools({ tools, tool_choice: choice, model }: Json): void {
  list(tools).forEach((tool, at) => {
    must(
      /^[a-zA-Z0-9_-]{1,128}$/.test(String(tool.name)),
      `tools.${at}.custom.name: String should match pattern`,
    );
    const schema = tool.input_schema as Json | undefined;
    must(schema?.type === 'object', `tools.${at}.custom.input_schema.type: Field required`);
    const hasUnion = ['anyOf', 'oneOf', 'allOf'].some((keyword) => schema?.[keyword] !== undefined);
    must(!hasUnion, 'input_schema does not support oneOf, allOf, or anyOf at the top level');
  });
  const type = (choice as Json | undefined)?.type;
  must(type === undefined || tools !== undefined, 'tool_choice may only be specified while providing tools.');
  const refusesForced = /(opus|sonnet)-5-5|fable-5-1/.test(String(model));
  must(
    !(refusesForced && isForced(type)),
    'tool_choice: type "tool" and "any" are not supported for this model.',
  );
}

function checkThinking(body: Json, beta: unknown): void {
  const thinking = body.thinking as Json | undefined;
  if (!thinking) return;
  const model = String(body.model);
  const isAdaptive = /-(opus|sonnet)-4-[6-9]|-5|fable|mythos/.test(model);
  if (thinking.block_binding !== undefined)
    must(
      String(beta).includes('thinking-binding-controls'),
      'thinking.block_binding: Extra inputs are not permitted',
    );
  if (thinking.type === 'adaptive') must(isAdaptive, 'adaptive thinking is not supported on this model');
  if (thinking.type !== 'enabled') return;
  must(
    !/opus-4-[78]|-5|fable|mythos/.test(model) || /-4-5/.test(model),
    '"thinking.type.enabled" is not supported',
  );
  must(
    Number(thinking.budget_tokens) >= 1024,
    'thinking.enabled.budget_tokens: Input should be at least 1024',
  );
  must(
    Number(thinking.budget_tokens) < Number(body.max_tokens),
    '`max_tokens` must be greater than `thinking.budget_tokens`.',
  );
  const forced = isForced((body.tool_choice as Json | undefined)?.type);
  must(!forced, 'Thinking may not be enabled when tool_choice forces tool use.');
  must(body.temperature === undefined, '`temperature` may only be set to 1 when thinking is enabled.');
  const messages = list(body.messages);
  const answersTools = blocksOf(messages.at(-1))[0]?.type === 'tool_result';
  must(
    !answersTools || isThought(blocksOf(messages.at(-2))[0]),
    'Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
  );
}

function checkSampling(body: Json): void {
  const model = String(body.model);
  const refusesSampling = /opus-4-[78]|(opus|sonnet|haiku)-5|fable|mythos/.test(model);
  for (const field of ['temperature', 'top_p', 'top_k'])
    must(body[field] === undefined || !refusesSampling, `\`${field}\` is deprecated for this model.`);
  must(Number(body.temperature ?? 0) <= 1, 'temperature: range: 0..1');
  const both = body.temperature !== undefined && body.top_p !== undefined;
  must(
    !both || !/-4-[56]/.test(model),
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  );
  for (const stop of list(body.stop_sequences) as unknown as string[])
    must(!isBlank(stop), 'stop_sequences: each stop sequence must contain non-whitespace');
}

function checkFormat({ output_config: config, model }: Json): void {
  const format = (config as Json | undefined)?.format as Json | undefined;
  if (format?.type !== 'json_schema') return;
  must(
    !/claude-3|-4-[01]\b|-4-2025/.test(String(model)),
    'output_config.format: not supported on this model',
  );
  checkClosed(format.schema as Json);
}

function checkClosed(schema: Json): void {
  if (schema.type === 'object')
    must(
      schema.additionalProperties === false,
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  for (const keyword of ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems'])
    must(
      schema[keyword] === undefined,
      `output_config.format.schema: property '${keyword}' is not supported`,
    );
  for (const sub of Object.values((schema.properties ?? {}) as Record<string, Json>)) checkClosed(sub);
  if (schema.items) checkClosed(schema.items as Json);
}

/** The API joins messages of one role. */
function joined(messages: Json[]): Json[] {
  const turns: Json[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role && last)
      turns[turns.length - 1] = { ...last, content: [...blocksOf(last), ...blocksOf(message)] };
    else turns.push(message);
  }
  return turns;
}

function checkMessages(messages: Json[], sign: (thinking: string) => string): void {
  must(messages.length > 0, 'messages: at least one message is required');
  must(messages[0]?.role === 'user', 'messages: first message must use the "user" role');
  const ids = new Set<string>();
  messages.forEach((message, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant';
    must(message.role === role, 'messages: roles must alternate between "user" and "assistant"');
    const blocks = blocksOf(message);
    must(blocks.length > 0, `messages.${at}: all messages must have non-empty content`);
    for (const [place, block] of blocks.entries())
      checkBlock(block, { where: `messages.${at}.content.${place}`, sign });
    if (role === 'assistant') checkCalls(blocks, { at, ids, next: messages[at + 1] });
    else checkResults(blocks, messages[at - 1], at);
  });
}

function checkBlock(
  block: Json,
  { where, sign }: { where: string; sign: (thinking: string) => string },
): void {
  if (block.type === 'text')
    must(!isBlank(block.text), 'messages: text content blocks must contain non-whitespace text');
  if (block.type === 'thinking')
    must(
      block.signature === sign(String(block.thinking)),
      `${where}: Invalid \`signature\` in \`thinking\` block`,
    );
  for (const inner of block.type === 'tool_result' ? blocksOf(block) : [])
    checkBlock(inner, { where: `${where}.content`, sign });
}

function checkCalls(
  blocks: Json[],
  { at, ids, next }: { at: number; ids: Set<string>; next: Json | undefined },
): void {
  must(
    !isThought(blocks.at(-1)),
    `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`,
  );
  const answered = blocksOf(next).filter((block) => block.type === 'tool_result');
  for (const block of blocks.filter(({ type }) => type === 'tool_use')) {
    const id = String(block.id);
    must(/^[a-zA-Z0-9_-]+$/.test(id), `messages.${at}.content.0.tool_use.id: String should match pattern`);
    must(!ids.has(id), 'messages: `tool_use` ids must be unique');
    ids.add(id);
    must(
      isObject(block.input),
      `messages.${at}.content.0.tool_use.input: Input should be a valid dictionary`,
    );
    must(
      answered.some((result) => result.tool_use_id === id),
      `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}.`,
    );
  }
}

function checkResults(blocks: Json[], before: Json | undefined, at: number): void {
  const called = blocksOf(before).filter((block) => block.type === 'tool_use');
  let isFirst = true;
  for (const block of blocks) {
    if (block.type !== 'tool_result') {
      isFirst = false;
      continue;
    }
    must(isFirst, `messages.${at}: \`tool_result\` blocks must come first`);
    must(
      called.some(({ id }) => id === block.tool_use_id),
      `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(block.tool_use_id)}.`,
    );
  }
}

function checkEnds({ messages, model }: Json): void {
  const last = list(messages).at(-1);
  if (last?.role !== 'assistant') return;
  const refusesPrefill = /-4-[6-9]|-5(?!\d)|fable|mythos/.test(String(model)) && !/-4-5/.test(String(model));
  must(!refusesPrefill, 'This model does not support assistant message prefill.');
  const text = blocksOf(last).at(-1)?.text;
  const endsBlank = typeof text === 'string' && text !== text.trimEnd();
  must(!endsBlank, 'messages: final assistant content cannot end with trailing whitespace');
}

function isForced(type: unknown): boolean {
  return type === 'any' || type === 'tool';
}

function isThought(block: Json | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

/** Content as blocks: a string is one text. */
function blocksOf(message: Json | undefined): Json[] {
  const content = message?.content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function must(holds: unknown, message: string): void {
  if (!holds) throw new Refused(message);
}
