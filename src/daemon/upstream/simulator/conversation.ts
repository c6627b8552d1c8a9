import type { ContentPart, Inference, InputItem, Tool } from '../../features/upstreams/neutral.ts';

/** An offered function; `schemaParam` is the path of its parameters in the request. */
export type FunctionTool = Extract<Tool, { type: 'function' }> & { schemaParam: string };

/** The parts of a request that answers and rules depend on. */
export interface Conversation {
  /** 1 plus the number of the model's answers in the request. */
  turn: number;
  /** The text of the user's last message. */
  userText: string;
  /** Instructions, system and developer messages, in that order. */
  systemText: string;
  /** The tool results at the end of the request; empty if it ends with something else. */
  toolResults: ToolResult[];
  /** Images and files in these tool results, else in the user's last message. */
  attachments: Attachments;
  tools: FunctionTool[];
  inputTokens: number;
}

export interface ToolResult {
  /** The name of the tool; empty if the request does not contain the call. */
  name: string;
  text: string;
}

export interface Attachments {
  images: number;
  /** File names; empty ones for files without a name. */
  files: string[];
}

/** Fixed token counts for content that is not text. */
const imageTokens = 85;
const fileTokens = 100;

export function readConversation(inference: Inference): Conversation {
  const { items } = inference;
  const results = trailingResults(items);
  const names = results.length > 0 ? toolNames(items) : undefined;
  const user = items.findLast((item) => item.type === 'message' && item.role === 'user');
  const userParts = user?.type === 'message' ? user.content : [];
  return {
    turn: 1 + countAnswers(items),
    userText: textOf(userParts),
    systemText: [inference.instructions, ...systemTexts(items)].filter(Boolean).join('\n'),
    toolResults: results.map(({ callId, output }) => ({
      name: names?.get(callId) ?? '',
      text: textOf(output),
    })),
    attachments: attachmentsOf(results.length > 0 ? results.flatMap(({ output }) => output) : userParts),
    tools: inference.tools.flatMap((tool) =>
      tool.type === 'function' ? [{ ...tool, schemaParam: `${tool.param}.parameters` }] : [],
    ),
    inputTokens: countInput(inference),
  };
}

function trailingResults(items: readonly InputItem[]) {
  const results: Extract<InputItem, { type: 'function_call_output' }>[] = [];
  for (const item of items.toReversed()) {
    if (item.type === 'reasoning' || item.type === 'opaque') continue;
    if (item.type !== 'function_call_output') break;
    results.push(item);
  }
  return results.reverse();
}

/** Consecutive items of the model are one answer; a user message or tool result ends it. */
function countAnswers(items: readonly InputItem[]): number {
  let answers = 0;
  let inAnswer = false;
  for (const item of items) {
    const isFromModel =
      item.type === 'function_call' ||
      item.type === 'reasoning' ||
      (item.type === 'message' && item.role === 'assistant');
    if (isFromModel && !inAnswer) answers += 1;
    inAnswer = isFromModel;
  }
  return answers;
}

function systemTexts(items: readonly InputItem[]): string[] {
  return items.flatMap((item) =>
    item.type === 'message' && (item.role === 'system' || item.role === 'developer')
      ? [textOf(item.content)]
      : [],
  );
}

/** Tool names by call id; for duplicate ids, the last call counts. */
function toolNames(items: readonly InputItem[]): Map<string, string> {
  return new Map(items.flatMap((item) => (item.type === 'function_call' ? [[item.callId, item.name]] : [])));
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function attachmentsOf(parts: readonly ContentPart[]): Attachments {
  return {
    images: parts.filter((part) => part.type === 'image').length,
    files: parts.flatMap((part) => (part.type === 'file' ? [part.filename ?? ''] : [])),
  };
}

function countInput(inference: Inference): number {
  let tokens = countTokens(inference.instructions ?? '');
  for (const item of inference.items) {
    if (item.type === 'message') tokens += countParts(item.content);
    else if (item.type === 'function_call_output') tokens += countParts(item.output);
    else if (item.type === 'function_call') tokens += countTokens(item.name) + countTokens(item.arguments);
    else if (item.type === 'reasoning') for (const part of item.summary) tokens += countTokens(part);
  }
  if (inference.tools.length > 0) tokens += countTokens(JSON.stringify(inference.tools));
  if (inference.format?.type === 'json_schema') {
    tokens += countTokens(JSON.stringify(inference.format.schema));
  }
  return tokens;
}

function countParts(parts: readonly ContentPart[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === 'text') tokens += countTokens(part.text);
    else if (part.type === 'refusal') tokens += countTokens(part.refusal);
    else tokens += part.type === 'image' ? imageTokens : fileTokens;
  }
  return tokens;
}

const tokenUnitsMax = 6;
/** A delta is one word; text without spaces (base64, minified JSON) is split after this many tokens. */
const tokensPerWordMax = 8;

/** A word as it is streamed, including the white space before it. */
export interface Word {
  text: string;
  tokens: string[];
}

/**
 * Counts tokens: white space and the text after it, up to the next white space and at most six UTF-16 units, never
 * splitting a character. English has about four characters per token.
 */
export function countTokens(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = tokenEnd(text, at)) count += 1;
  return count;
}

/** The first words of `text`, at most `tokensMax` tokens; `isCut` if there is more text. */
export function takeWords(
  text: string,
  tokensMax: number,
): { words: Word[]; tokens: number; isCut: boolean } {
  const words: Word[] = [];
  let word: Word | undefined;
  let tokens = 0;
  let at = 0;
  while (at < text.length && tokens < tokensMax) {
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    if (!word || isSpace(text.charCodeAt(at)) || word.tokens.length >= tokensPerWordMax) {
      word = { text: '', tokens: [] };
      words.push(word);
    }
    word.text += token;
    word.tokens.push(token);
    tokens += 1;
    at = end;
  }
  return { words, tokens, isCut: at < text.length };
}

function tokenEnd(text: string, start: number): number {
  let seenText = false;
  let at = start;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const space = isSpace(unit);
    if (space && seenText) break;
    if (at >= start + tokenUnitsMax && !isLowSurrogate(unit)) break;
    if (!space) seenText = true;
  }
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
