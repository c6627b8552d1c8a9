import type { Tokens, ToolUses } from '../../../../shared/money/money.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Adapter } from '../../adapter.ts';
import { countOf, isObject, type Json, objectOf, textOf } from '../../json.ts';
import { errorMember } from '../../vendor-errors.ts';
import { billedIn } from '../billed.ts';
import { argumentsIn, unreadableArguments } from '../call-arguments.ts';
import { CallIds, toolNameIn, withoutRepeated } from '../call-ids.ts';
import { type Ended, endedWith } from '../finish-reasons.ts';
import { openAiStreamFailure } from '../openai-chat/failure.ts';
import { openAiTokens } from '../openai-usage.ts';
import { unnamedCall } from '../provider-failures.ts';

/** Higher counts are treated as invalid. */
const searchesMax = 10_000;

/** Reads a whole response object; corrects the arguments of calls and duplicate ids in place. */
export function readResponsesAnswer(
  json: Json,
  name: string,
): ReturnType<NonNullable<Adapter['readAnswer']>> {
  const failure = failureIn(json, name);
  if (failure) return { tokens: responsesTokensIn(json), finish: 'stop', failure };
  // Some servers leave it out.
  json.status ??= Array.isArray(json.output) ? 'completed' : undefined;
  const { reason: finish, ...word } = outcomeOf(json, name);
  if (!Array.isArray(json.output)) throw new UpstreamFailure('broken', `${name} answered without output`);
  repairOutput(json, json.output);
  if (!json.output.every(isWholeItem)) json.output = json.output.filter(isWholeItem);
  json.output = withoutRepeated(json.output as Json[], ({ call_id: id }) => id);
  const ids = new CallIds();
  for (const item of json.output as Json[]) {
    if (!isCall(item)) continue;
    if (isUnnamedCall(item)) throw unnamedCall(name);
    item.name = toolNameIn(item.name);
    if (item.type === 'function_call') {
      const isCut = finish !== 'stop' || item.status === 'incomplete';
      const text = argumentsIn(item.arguments) ?? (isCut ? String(item.arguments) : undefined);
      if (text === undefined) throw unreadableArguments(name, item.name);
      item.arguments = text;
    }
    item.call_id = ids.unique(item.call_id);
  }
  return {
    tokens: responsesTokensIn(json),
    ...billedIn(objectOf(json.usage), json.service_tier),
    finish,
    ...word,
  };
}

/** How a response ended. Throws an UpstreamFailure if it failed or is incomplete. */
export function outcomeOf(response: Json, name: string): Ended {
  const { status, incomplete_details: details } = response;
  const failure = failureIn(response, name);
  if (failure) throw failure;
  if (status === 'completed') return { reason: 'stop' };
  if (status !== 'incomplete') throw new UpstreamFailure('broken', `${name} ended its answer early`);
  const word = isObject(details) && typeof details.reason === 'string' ? details.reason : 'length';
  const end = endedWith(word, { provider: name, isUsable: true });
  // What is incomplete has been cut, whatever the word.
  return end.reason === 'stop' ? { ...end, reason: 'max_output_tokens' } : end;
}

function failureIn(response: Json, name: string): UpstreamFailure | undefined {
  const error = errorMember(response);
  if (response.status !== 'failed' && error === undefined) return undefined;
  return openAiStreamFailure(name, error ?? {});
}

/** Reads usage, with the tools that OpenAI charges for. */
export function responsesTokensIn(response: Json): Tokens | undefined {
  const tokens = isObject(response.usage) ? openAiTokens(response.usage) : undefined;
  const toolUses = tokens && toolUsesIn(response);
  return toolUses ? { ...tokens, toolUses } : tokens;
}

/**
 * Counts searches. Opening a result, or searching in it, is free. Newer answers report the number of billable web
 * searches in `tool_usage`. Source: OpenAI's pricing page and API reference.
 */
function toolUsesIn({ output: items, tool_usage: reportedUse }: Json): ToolUses | undefined {
  const uses: ToolUses = { webSearch: 0, fileSearch: 0 };
  for (const item of Array.isArray(items) ? items : []) {
    if (!isObject(item)) continue;
    const action = isObject(item.action) ? item.action.type : 'search';
    if (item.type === 'web_search_call' && action === 'search') uses.webSearch += 1;
    if (item.type === 'file_search_call') uses.fileSearch += 1;
  }
  const searches =
    isObject(reportedUse) && isObject(reportedUse.web_search)
      ? countOf(reportedUse.web_search.num_requests)
      : undefined;
  if (searches !== undefined && searches <= searchesMax) uses.webSearch = searches;
  return uses.webSearch + uses.fileSearch > 0 ? uses : undefined;
}

/** Corrects the items of a response, and adds the one of a text that is written next to them only. */
export function repairOutput({ output_text: text }: Json, output: unknown[]): void {
  for (const item of output) repairItem(item);
  if (output.length === 0 && typeof text === 'string' && text !== '')
    output.push({ type: 'message', role: 'assistant', status: 'completed', content: [partOf(text)] });
}

/**
 * Corrects a message without its type, or whose content is a text or parts of the chat format, as servers have it that convert
 * answers. Returns whether it was changed. Source: BerriAI/litellm#31698.
 */
export function repairItem(item: unknown): boolean {
  if (!isObject(item)) return false;
  const { role, content } = item;
  const isUntyped = item.type === undefined && role === 'assistant';
  if (isUntyped) item.type = 'message';
  const isOther = typeof content === 'string' || (Array.isArray(content) && !content.every(isPart));
  if (item.type !== 'message' || !isOther) return isUntyped;
  item.content = (Array.isArray(content) ? content : [content]).map((part) =>
    isPart(part) ? part : partOf(part),
  );
  return true;
}

function isPart(part: unknown): part is Json {
  return isObject(part) && part.type !== 'text' && part.text !== null;
}

function partOf(part: unknown): Json {
  const { text, ...members } = isObject(part) ? part : { text: part };
  return { annotations: [], ...members, type: 'output_text', text: textOf(text) ?? '' };
}

/** Whether a value is an output item: without a type it is nothing that a client could read. */
export function isItem(value: unknown): value is Json {
  return isObject(value) && typeof value.type === 'string';
}

/** Whether a value is an item with the lists that clients read from one that has ended. */
export function isWholeItem(value: unknown): value is Json {
  if (!isItem(value)) return false;
  if (value.type === 'message') return Array.isArray(value.content);
  return value.type !== 'reasoning' || value.summary === undefined || Array.isArray(value.summary);
}

/** Whether a call has no name, so that it cannot be answered. */
export function isUnnamedCall({ type, name }: Json): boolean {
  return isCall({ type }) && toolNameIn(name) === '';
}

function isCall({ type }: Json): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}
