import type { CountMessageTokensBody, CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import { ApiError } from '../../../../../shared/errors.ts';
import { invalid, isObject, requiredText } from '../../../../../shared/faults/invalid-request.ts';
import { withoutBillingLine } from '../../../../../shared/text/billing-line.ts';
import {
  elsewhereOf,
  type Inference,
  type InputItem,
  type OutputFormat,
  type Sampling,
  type Tool,
  type ToolChoice,
} from '../../../upstreams/neutral.ts';
import { requireTool } from '../responses/parse.ts';
import { checkArguments, type OpenSealed } from '../responses/parse-input.ts';
import { withOwnSpelling } from '../spellings.ts';
import { parseMessageItems, unknownBlock } from './parse-messages.ts';
import { parseMessageTools } from './parse-tools.ts';
import { anthropicRefusal, type MessagesBody, validateMessages } from './validate.ts';

/** The headers of a request. */
export type MessageHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Messages body → neutral call. `headers` are those of the request; `open` opens reasoning sealed by this gateway. */
export function parseMessagesCall(
  body: CreateMessageBody,
  headers: MessageHeaders,
  open: OpenSealed,
): Inference {
  const { thread, ...unthreaded } = body as CreateMessageBody & { thread?: unknown };
  if (isObject(thread) && thread.type === 'continue') throw threadNotFound();
  const parsed = parsePrompt(unthreaded, headers, open);
  return {
    ...parsed,
    stream: body.stream === true,
    outputTokensMax: Math.max(1, body.max_tokens),
    // 0 fills Anthropic's prompt cache; elsewhere it would be refused.
    ...(body.max_tokens === 0 && { wantsNoAnswer: true }),
    sampling: samplingOf(body),
  };
}

/**
 * Anthropic keeps the conversation of a message thread for some minutes. Here none is kept: clients send it again when a
 * thread is gone. Source: Anthropic's documentation, "Message threads".
 */
function threadNotFound(): ApiError {
  return new ApiError('not_found', {
    param: 'thread',
    reportedCode: 'thread_not_found',
    message: 'Message threads are not kept here: send the whole conversation.',
  });
}

/** The part of a call whose tokens can be counted. */
export function parsePrompt(given: MessagesBody, headers: MessageHeaders, open: OpenSealed): Inference {
  const body = withOwnSpelling(given, 'messages');
  validateMessages(body, String(headers['anthropic-beta'] ?? ''));
  const { service: _service, ...rest } = body as MessagesBody & { service?: unknown };
  const items = [...unknownInSystem(body.system), ...parseMessageItems(body.messages, open)];
  checkArguments(items, 'messages');
  const added = items.flatMap((item) => elsewhereOf(item)?.tools ?? []);
  const tools = [...parseMessageTools(body.tools ?? []), ...added];
  const relayed = relayedHeaders(headers);
  return {
    wire: 'messages',
    model: body.model,
    stream: false,
    items,
    instructions: systemText(body.system),
    tools,
    toolChoice: parseMessageToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use === true ? false : undefined,
    format: parseOutputFormat(body),
    verbosity: undefined,
    outputTokensMax: undefined,
    sampling: {},
    reasoning: reasoningOf(body),
    body: rest,
    ...(relayed && { headers: relayed }),
    untranslatable: anthropicRefusal,
  };
}

/** The version and the betas, which select the form of requests and answers. */
function relayedHeaders(headers: MessageHeaders): Record<string, string> | undefined {
  const relayed: Record<string, string> = {};
  for (const name of ['anthropic-version', 'anthropic-beta']) {
    const value = headers[name];
    if (value !== undefined) relayed[name] = String(value);
  }
  return Object.keys(relayed).length > 0 ? relayed : undefined;
}

function systemText(system: CreateMessageBody['system']): string | undefined {
  if (typeof system === 'string') return withoutBillingLine(system) || undefined;
  const texts = (system ?? []).flatMap(({ type, text }, index) =>
    type === 'text' ? withoutBillingLine(requiredText(text, `system[${index}].text`)) || [] : [],
  );
  return texts.length > 0 ? texts.join('\n\n') : undefined;
}

function unknownInSystem(system: CreateMessageBody['system']): InputItem[] {
  if (typeof system === 'string') return [];
  return (system ?? []).flatMap((block, index) =>
    block.type === 'text' ? [] : [unknownBlock(block, `system[${index}]`)],
  );
}

function parseMessageToolChoice(
  choice: CreateMessageBody['tool_choice'],
  tools: readonly Tool[],
): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined;
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { mode: choice.type };
    case 'any':
      return { mode: 'required' };
    case 'tool': {
      const name = requiredText(choice.name, 'tool_choice.name');
      // One that Anthropic defines can be forced only there.
      if (tools.some((tool) => tool.type === 'opaque' && tool.json.name === name)) return undefined;
      return { mode: 'function', ...requireTool({ name }, tools, 'tool_choice.name') };
    }
    default:
      return undefined;
  }
}

/** `output_format` is its earlier, beta name. */
function parseOutputFormat(
  body: CountMessageTokensBody & { output_format?: unknown },
): OutputFormat | undefined {
  const { format = body.output_format } = body.output_config ?? {};
  if (format === undefined || format === null) return undefined;
  const param = 'output_config.format';
  if (!isObject(format)) throw invalid(param, 'This must be an object.');
  if (format.type !== 'json_schema') return undefined;
  if (!isObject(format.schema)) throw invalid(`${param}.schema`, 'This must be a JSON schema.');
  return {
    type: 'json_schema',
    name: 'answer',
    description: undefined,
    schema: format.schema,
    strict: undefined,
  };
}

function samplingOf(body: CreateMessageBody): Sampling {
  const sampling: Sampling = {};
  if (typeof body.temperature === 'number') sampling.temperature = body.temperature;
  if (typeof body.top_p === 'number') sampling.topP = body.top_p;
  if (typeof body.top_k === 'number') sampling.topK = body.top_k;
  if (body.stop_sequences && body.stop_sequences.length > 0) sampling.stop = body.stop_sequences;
  return sampling;
}

/** Budgets up to these many tokens, in efforts. */
const effortsByBudget = [
  [4096, 'low'],
  [16_384, 'medium'],
] as const;

/** Whether the caller wants to see thoughts. */
export function wantsThinking({ thinking }: Pick<CreateMessageBody, 'thinking'>): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive' || thinking?.type === 'between_tools';
}

function reasoningOf(body: CountMessageTokensBody): Inference['reasoning'] {
  const { thinking, output_config: config } = body;
  const effort = config?.effort ?? undefined;
  if (!wantsThinking(body)) return effort === undefined ? undefined : { effort, summary: undefined };
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  return {
    effort: effort ?? (typeof budget === 'number' ? effortOf(budget) : undefined),
    summary: thinking?.display === 'omitted' ? undefined : 'auto',
  };
}

function effortOf(budget: number): string {
  return effortsByBudget.find(([most]) => budget <= most)?.[1] ?? 'high';
}
