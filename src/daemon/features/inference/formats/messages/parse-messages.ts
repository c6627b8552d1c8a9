import type { CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import type { ApiError } from '../../../../../shared/errors.ts';
import { quoted } from '../../../../../shared/not-found.ts';
import type {
  ContentPart,
  FunctionOutputItem,
  InputItem,
  ReasoningOrigin,
} from '../../../upstreams/neutral.ts';
import {
  invalid,
  isObject,
  type Json,
  notSealedHere,
  optionalFlag,
  optionalText,
  requiredText,
  unsupportedPart,
} from '../../invalid-request.ts';
import { looksSealed } from '../../pipeline/sealing.ts';
import { type OpenSealed, uploadOf } from '../responses/parse-input.ts';

/** The signature of thoughts that their provider need not see again: clients expect every thought to have one. */
export const unsigned = 'unsigned';
const nowhere: ReasoningOrigin = { provider: '', model: '', payload: undefined };

/**
 * Messages → neutral items, in the order of the blocks. Blocks of tools that Anthropic runs, and of unknown types,
 * become opaque. Calls and results were matched before.
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

  add({ role, content }: MessageParam, param: string): void {
    if (typeof content === 'string') {
      if (content !== '') this.#content.push({ type: 'text', text: content });
    } else {
      for (const [index, block] of content.entries())
        this.#addBlock(block, role, `${param}.content[${index}]`);
    }
    this.#endMessage(role);
  }

  #addBlock(block: Json, role: MessageParam['role'], param: string): void {
    const part = contentPart(block, param);
    if (part !== undefined) {
      this.#content.push(part);
      return;
    }
    this.#endMessage(role);
    switch (block.type) {
      case 'tool_use':
        this.#addCall(block, param);
        break;
      case 'tool_result':
        this.#addResult(block, param);
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
      default:
        requiredText(block.type, `${param}.type`);
        this.items.push({ type: 'opaque', json: block, param });
    }
  }

  #endMessage(role: MessageParam['role']): void {
    if (this.#content.length === 0) return;
    this.items.push({ type: 'message', role, content: this.#content });
    this.#content = [];
  }

  #addCall(block: Json, param: string): void {
    const callId = requiredText(block.id, `${param}.id`);
    if (callId === '') throw invalid(`${param}.id`, 'This must not be empty.');
    const { input } = block;
    if (!isObject(input)) throw invalid(`${param}.input`, 'This must be an object.');
    this.items.push({
      type: 'function_call',
      callId,
      name: requiredText(block.name, `${param}.name`),
      arguments: JSON.stringify(input),
    });
  }

  #addResult(block: Json, param: string): void {
    const callId = requiredText(block.tool_use_id, `${param}.tool_use_id`);
    const { output, references } = resultContent(block.content, `${param}.content`);
    const isError = optionalFlag(block.is_error, `${param}.is_error`);
    const item: FunctionOutputItem = { type: 'function_call_output', callId, output };
    if (isError) item.isError = true;
    this.items.push(item, ...references);
  }

  /** Thoughts that a provider signed itself are of use to providers of the same format only. */
  #addThought(text: string, signature: unknown, param: string): void {
    const sealed = optionalText(signature, param) ?? '';
    const origin = sealed === unsigned ? nowhere : looksSealed(sealed) ? this.#open(sealed) : undefined;
    if (looksSealed(sealed) && origin === undefined) throw notSealedHere(param);
    this.items.push({ type: 'reasoning', summary: text === '' ? [] : [text], origin });
  }
}

/** A block that can be part of a message or of a tool's result; undefined for other types. */
function contentPart(block: Json, param: string): ContentPart | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: requiredText(block.text, `${param}.text`) };
    case 'image':
      return imagePart(block.source, `${param}.source`);
    case 'document':
      return documentPart(block, param);
    case 'search_result':
      return { type: 'text', text: searchResultText(block, param) };
    default:
      return undefined;
  }
}

function imagePart(source: unknown, param: string): ContentPart {
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
      throw unsupportedSource(source, param);
  }
}

function documentPart(block: Json, blockParam: string): ContentPart {
  const { source } = block;
  const param = `${blockParam}.source`;
  if (!isObject(source)) throw invalid(param, 'This must be an object.');
  const title = optionalText(block.title, `${blockParam}.title`) || undefined;
  const named = title === undefined ? {} : { filename: title };
  switch (source.type) {
    case 'base64': {
      const type = requiredText(source.media_type, `${param}.media_type`);
      const data = `data:${type};base64,${requiredText(source.data, `${param}.data`)}`;
      // Some providers know a file by the end of its name.
      const name =
        type === 'application/pdf' && !/\.pdf$/i.test(title ?? '') ? `${title ?? 'document'}.pdf` : title;
      return { type: 'file', ...(name !== undefined && { filename: name }), data };
    }
    case 'url':
      return { type: 'file', ...named, url: httpUrl(source.url, `${param}.url`) };
    case 'file':
      return { type: 'file', ...named, ...uploaded(source, param) };
    case 'text':
      return { type: 'text', text: titled(title, requiredText(source.data, `${param}.data`)) };
    case 'content': {
      const { content } = source;
      const texts = typeof content === 'string' ? [content] : textOfBlocks(content, `${param}.content`);
      return { type: 'text', text: titled(title, texts.join('\n\n')) };
    }
    default:
      throw unsupportedSource(source, param);
  }
}

function searchResultText(block: Json, param: string): string {
  const title = requiredText(block.title, `${param}.title`);
  const source = requiredText(block.source, `${param}.source`);
  return titled(`${title} (${source})`, textOfBlocks(block.content, `${param}.content`).join('\n\n'));
}

function titled(title: string | undefined, text: string): string {
  return title === undefined ? text : `${title}\n\n${text}`;
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

function unsupportedSource({ type }: Json, param: string): ApiError {
  return invalid(`${param}.type`, `Sources of type ${quoted(String(type))} are not supported.`);
}

/** Content of a tool's result; blocks with another meaning, such as references to tools, are kept as opaque items. */
function resultContent(content: unknown, param: string): { output: ContentPart[]; references: InputItem[] } {
  if (content === undefined || content === null || content === '') return { output: [], references: [] };
  if (typeof content === 'string') return { output: [{ type: 'text', text: content }], references: [] };
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of content blocks.');
  const output: ContentPart[] = [];
  const references: InputItem[] = [];
  content.forEach((block, index) => {
    const at = `${param}[${index}]`;
    if (!isObject(block)) throw invalid(at, 'A content block must be an object.');
    const part = contentPart(block, at);
    if (part) output.push(part);
    else references.push({ type: 'opaque', json: block, param: at });
  });
  return { output, references };
}

/** The texts of a list of text blocks. */
export function textOfBlocks(blocks: unknown, param: string): string[] {
  if (!Array.isArray(blocks)) throw invalid(param, 'This must be a list of content blocks.');
  return blocks.map((block, index) => {
    const at = `${param}[${index}]`;
    if (!isObject(block)) throw invalid(at, 'A content block must be an object.');
    if (block.type !== 'text') throw unsupportedPart(requiredText(block.type, `${at}.type`), at);
    return requiredText(block.text, `${at}.text`);
  });
}
