import { unsigned } from '../../../../../shared/constants/unsigned.ts';
import type { CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import {
  argumentsText,
  ifValid,
  invalid,
  isObject,
  type Json,
  notSealedHere,
  optionalFlag,
  optionalText,
  requiredText,
} from '../../../../../shared/faults/invalid-request.ts';
import { looksSealed } from '../../../calls/index.ts';
import {
  type ContentPart,
  cacheMarkIn,
  type FunctionOutputItem,
  type InputItem,
  type OpaqueItem,
  type ReasoningOrigin,
} from '../../../upstreams/neutral.ts';
import { type OpenSealed, uploadOf } from '../responses/parse-input.ts';
import { toolChange } from './parse-tools.ts';
import { isBlank } from './validate.ts';

const nowhere: ReasoningOrigin = { provider: '', model: '', payload: undefined };

/**
 * Messages → neutral items, in the order of the blocks. Blocks of tools that Anthropic runs, and what is unknown here, become
 * opaque. Calls and results were matched before.
 */
export function parseMessageItems(messages: readonly MessageParam[], open: OpenSealed): InputItem[] {
  const reader = new MessagesReader(open);
  for (const [index, message] of messages.entries()) reader.add(message, `messages[${index}]`);
  return reader.items;
}

type MessageParam = CreateMessageBody['messages'][number];

class MessagesReader {
  readonly items: InputItem[] = [];
  readonly #open: OpenSealed;
  /** The parts of the message that is being read, until another item comes between. */
  #content: ContentPart[] = [];

  constructor(open: OpenSealed) {
    this.#open = open;
  }

  add(message: MessageParam, param: string): void {
    const { content } = message;
    const role = roles.find((known) => known === message.role);
    if (role === undefined) {
      this.items.push({ ...opaque(message, param), unknown: `${param}.role` });
      return;
    }
    if (typeof content === 'string') {
      if (content !== '' && !(role === 'assistant' && isBlank(content)))
        this.#content.push({ type: 'text', text: content });
    } else {
      for (const [index, block] of content.entries())
        this.#addBlock(block, role, `${param}.content[${index}]`);
    }
    this.#endMessage(role);
  }

  #addBlock(block: Json, role: Role, param: string): void {
    const parts = contentParts(block, param);
    if (role === 'assistant' && block.type === 'text' && isBlank(String(block.text))) return;
    if (parts !== undefined) {
      this.#content.push(...withMark(parts, block));
      return;
    }
    this.#endMessage(role);
    switch (block.type) {
      case 'tool_use':
        this.#addCall(block, param);
        break;
      case 'tool_result':
        this.items.push(...resultItems(block, param));
        break;
      case 'thinking':
        this.#addThought(
          requiredText(block.thinking, `${param}.thinking`),
          block.signature,
          `${param}.signature`,
        );
        break;
      case 'redacted_thinking':
        this.#addThought('', requiredText(block.data, `${param}.data`), `${param}.data`);
        break;
      case 'tool_addition':
      case 'tool_removal': {
        const elsewhere = toolChange(block, param);
        this.items.push({ ...opaque(block, param), ...(elsewhere && { elsewhere }) });
        break;
      }
      case 'mcp_tool_use':
      case 'mcp_tool_result': {
        const item = ifValid(() => mcpItem(block, param));
        this.items.push({ ...opaque(block, param), ...(item && { elsewhere: { items: [item] } }) });
        break;
      }
      default:
        this.items.push(unknownBlock(block, param));
    }
  }

  #endMessage(role: Role): void {
    if (this.#content.length === 0) return;
    this.items.push({ type: 'message', role, content: this.#content });
    this.#content = [];
  }

  #addCall(block: Json, param: string): void {
    const callId = requiredText(block.id, `${param}.id`);
    if (callId === '') throw invalid(`${param}.id`, 'This must not be empty.');
    // Models write text instead, and clients give it back as they got it. Source: anthropics/claude-code#6749.
    const { input } = block;
    if (!isObject(input) && typeof input !== 'string' && input !== null)
      throw invalid(`${param}.input`, 'This must be an object.');
    this.items.push({
      type: 'function_call',
      callId,
      name: requiredText(block.name, `${param}.name`),
      arguments: argumentsText(input, `${param}.input`),
      ...cacheMarkIn(block),
    });
  }

  /** Thoughts that a provider signed itself are of use to providers of the same format only. */
  #addThought(text: string, signature: unknown, param: string): void {
    const sealed = optionalText(signature, param) ?? '';
    const origin = sealed === unsigned ? nowhere : looksSealed(sealed) ? this.#open(sealed) : undefined;
    if (looksSealed(sealed) && origin === undefined) throw notSealedHere(param);
    this.items.push({ type: 'reasoning', summary: text === '' ? [] : [text], origin });
  }
}

/** The output of a call, and what in it is unknown here. */
function resultItems(block: Json, param: string): [FunctionOutputItem, ...InputItem[]] {
  const callId = requiredText(block.tool_use_id, `${param}.tool_use_id`);
  const { output, unknown } = resultContent(block.content, `${param}.content`);
  const isError = optionalFlag(block.is_error, `${param}.is_error`);
  const item: FunctionOutputItem = { type: 'function_call_output', callId, output, ...cacheMarkIn(block) };
  if (isError) item.isError = true;
  return [item, ...unknown];
}

/** A call that Anthropic made to an MCP server, or its output, as of a function of the caller: what a tool said is only there. */
function mcpItem(block: Json, param: string): InputItem | undefined {
  if (block.type === 'mcp_tool_result') {
    const [item, ...unknown] = resultItems(block, param);
    return unknown.length > 0 ? undefined : item;
  }
  const named = [block.server_name, block.name].map((name) => requiredText(name, `${param}.name`));
  return {
    type: 'function_call',
    callId: requiredText(block.id, `${param}.id`),
    name: named.join('__').replace(/[^a-zA-Z0-9_-]/g, '_'),
    arguments: argumentsText(block.input, `${param}.input`),
  };
}

const roles = ['user', 'assistant', 'system'] as const;
type Role = (typeof roles)[number];

function opaque(json: Json, param: string): OpaqueItem {
  return { type: 'opaque', wire: 'messages', json, param };
}

/** A block of an unknown type, or with a source of an unknown type. */
export function unknownBlock(block: Json, param: string): OpaqueItem {
  requiredText(block.type, `${param}.type`);
  const hasSource = (block.type === 'image' || block.type === 'document') && isObject(block.source);
  return { ...opaque(block, param), ...(hasSource && { unknown: `${param}.source.type` }) };
}

/** A block that can be part of a message or of a tool's result; undefined for other types. */
function contentParts(block: Json, param: string): ContentPart[] | undefined {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: requiredText(block.text, `${param}.text`) }];
    case 'image': {
      const part = imagePart(block.source, `${param}.source`);
      return part && [part];
    }
    case 'document':
      return documentParts(block, param);
    case 'search_result':
      return searchResultParts(block, param);
    case 'tool_reference': {
      // Its tool was deferred, which only Anthropic does: others get all tools from the start.
      const name = requiredText(block.tool_name, `${param}.tool_name`);
      return [{ type: 'text', text: `The tool ${name} is available now.` }];
    }
    default:
      return undefined;
  }
}

/** The parts of a block, the last of which has its mark. */
function withMark(parts: ContentPart[], block: Json): ContentPart[] {
  const mark = cacheMarkIn(block);
  const last = mark && parts.at(-1);
  if (last) Object.assign(last, mark);
  return parts;
}

/** Undefined for a source of an unknown type. */
function imagePart(source: unknown, param: string): ContentPart | undefined {
  if (!isObject(source)) throw invalid(param, 'This must be an object.');
  switch (source.type) {
    case 'base64': {
      const type = requiredText(source.media_type, `${param}.media_type`);
      return { type: 'image', url: `data:${type};base64,${requiredText(source.data, `${param}.data`)}` };
    }
    case 'url':
      return { type: 'image', url: httpUrl(source.url, `${param}.url`) };
    case 'file':
      return { type: 'image', url: '', ...uploaded(source, param) };
    default:
      requiredText(source.type, `${param}.type`);
      return undefined;
  }
}

/** Undefined for a source of an unknown type, and for unknown content. */
function documentParts(block: Json, blockParam: string): ContentPart[] | undefined {
  const { source } = block;
  const param = `${blockParam}.source`;
  if (!isObject(source)) throw invalid(param, 'This must be an object.');
  const title = optionalText(block.title, `${blockParam}.title`) || undefined;
  const context = optionalText(block.context, `${blockParam}.context`) || undefined;
  const heading = [title, context].filter((text) => text !== undefined).join('\n\n') || undefined;
  const named = title === undefined ? {} : { filename: title };
  switch (source.type) {
    case 'base64': {
      const type = requiredText(source.media_type, `${param}.media_type`);
      const data = `data:${type};base64,${requiredText(source.data, `${param}.data`)}`;
      // Some providers know a file by the end of its name.
      const name =
        type === 'application/pdf' && !/\.pdf$/i.test(title ?? '') ? `${title ?? 'document'}.pdf` : title;
      return [{ type: 'file', ...(name !== undefined && { filename: name }), data }];
    }
    case 'url':
      return [{ type: 'file', ...named, url: httpUrl(source.url, `${param}.url`) }];
    case 'file':
      return [{ type: 'file', ...named, ...uploaded(source, param) }];
    case 'text':
      return titled(heading, [{ type: 'text', text: requiredText(source.data, `${param}.data`) }]);
    case 'content':
      return titled(heading, nestedParts(source.content, `${param}.content`));
    default:
      requiredText(source.type, `${param}.type`);
      return undefined;
  }
}

function searchResultParts(block: Json, param: string): ContentPart[] | undefined {
  const title = requiredText(block.title, `${param}.title`);
  const source = requiredText(block.source, `${param}.source`);
  return titled(`${title} (${source})`, nestedParts(block.content, `${param}.content`));
}

/** Text or blocks within a block, with one part for texts that follow one another; undefined if a block is unknown. */
function nestedParts(content: unknown, param: string): ContentPart[] | undefined {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts: ContentPart[] = [];
  for (const [index, block] of blocksIn(content, param).entries()) {
    const inner = contentParts(block, `${param}[${index}]`);
    if (inner === undefined) return undefined;
    for (const part of inner) {
      const last = parts.at(-1);
      if (last?.type === 'text' && part.type === 'text') last.text += `\n\n${part.text}`;
      else parts.push(part);
    }
  }
  return parts;
}

/** The title goes into the first text, if the content starts with one. */
function titled(title: string | undefined, parts: ContentPart[] | undefined): ContentPart[] | undefined {
  if (title === undefined || parts === undefined) return parts;
  const [first, ...others] = parts;
  if (first?.type !== 'text') return [{ type: 'text', text: title }, ...parts];
  return [{ type: 'text', text: `${title}\n\n${first.text}` }, ...others];
}

function uploaded(source: Json, param: string) {
  const upload = uploadOf(source, param);
  if (upload === undefined) throw invalid(`${param}.file_id`, 'This must be a string.');
  return { upload };
}

function httpUrl(value: unknown, param: string): string {
  const url = requiredText(value, param);
  if (!/^https?:\/\//i.test(url)) throw invalid(param, 'This must be an http(s) URL.');
  return url;
}

/** Content of a tool's result; unknown blocks are kept as opaque items. */
function resultContent(content: unknown, param: string): { output: ContentPart[]; unknown: InputItem[] } {
  if (content === undefined || content === null || content === '') return { output: [], unknown: [] };
  if (typeof content === 'string') return { output: [{ type: 'text', text: content }], unknown: [] };
  const output: ContentPart[] = [];
  const unknown: InputItem[] = [];
  for (const [index, block] of blocksIn(content, param).entries()) {
    const at = `${param}[${index}]`;
    const parts = contentParts(block, at);
    if (parts) output.push(...withMark(parts, block));
    else unknown.push(unknownBlock(block, at));
  }
  return { output, unknown };
}

function blocksIn(content: unknown, param: string): Json[] {
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of content blocks.');
  content.forEach((block, index) => {
    if (!isObject(block)) throw invalid(`${param}[${index}]`, 'A content block must be an object.');
  });
  return content as Json[];
}
