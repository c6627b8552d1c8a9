import { stripVTControlCharacters } from 'node:util';
import { sizeText } from '../../shared/text/size-text.ts';
import type { Paint } from '../output/style.ts';

/** One side of a conversation, as text. */
export interface Passage {
  role: string;
  text: string;
}

type Json = Record<string, unknown>;

const placeholderMax = 200;

/** The items of a conversation in the Responses format as text; calls of tools, images and the like as one line each. */
export function passagesOf(items: readonly Json[]): Passage[] {
  return items.map(passageOf).filter(({ text }) => text !== '');
}

/** The messages of a chat as text, as `passagesOf`. */
export function chatPassages(messages: readonly Json[]): Passage[] {
  return messages.flatMap((message) => {
    const { role = 'assistant', content, refusal, tool_calls: calls } = message;
    if (role === 'tool' || role === 'function')
      return [{ role: String(role), text: placeholder(`result ${oneLine(contentText(content))}`) }];
    const texts = [contentText(content), typeof refusal === 'string' ? refusal : ''];
    if (message.audio) texts.push(placeholder('audio'));
    for (const image of listOf(message.images)) texts.push(imageText(image.image_url));
    for (const { function: called, custom } of listOf(calls))
      texts.push(callText((called ?? custom) as Json));
    const text = texts.filter((one) => one !== '').join('\n');
    return text === '' ? [] : [{ role: String(role), text }];
  });
}

function passageOf(item: Json): Passage {
  const { type = 'message', role } = item;
  switch (type) {
    case 'message':
      return { role: String(role ?? 'user'), text: contentText(item.content) };
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', text: callText(item) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', text: placeholder(`result ${oneLine(contentText(item.output))}`) };
    case 'reasoning': {
      const summary = contentText(item.summary);
      return { role: 'reasoning', text: summary === '' ? placeholder('no summary') : summary };
    }
    case 'image_generation_call':
      return { role: 'assistant', text: placeholder(`image${sizeOf(item.result)}`) };
    case 'item_reference':
      return { role: 'earlier', text: placeholder(`item ${item.id}`) };
    default:
      return { role: String(role ?? 'assistant'), text: placeholder(String(type).replaceAll('_', ' ')) };
  }
}

/** A string, or the parts of a message. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content).map(partText).join('\n');
}

function partText(part: Json): string {
  const { type } = part;
  if (typeof part.text === 'string') return part.text;
  if (typeof part.refusal === 'string') return part.refusal;
  if (type === 'input_image' || type === 'image_url') return imageText(part.image_url ?? part.file_id);
  const file = (part.file ?? part) as Json;
  if (type === 'input_file' || type === 'file') {
    const name = file.filename ?? file.file_url ?? file.file_id;
    return placeholder(`file${name === undefined ? '' : ` ${name}`}${sizeOf(file.file_data)}`);
  }
  // Content blocks of the Messages format.
  if (typeof part.thinking === 'string') return placeholder('reasoning');
  if (type === 'tool_use') return callText({ name: part.name, input: JSON.stringify(part.input ?? {}) });
  if (type === 'tool_result') return placeholder(`result ${oneLine(contentText(part.content))}`);
  return placeholder(String(type ?? 'part').replaceAll('_', ' '));
}

function imageText(image: unknown): string {
  const url = typeof image === 'string' ? image : ((image ?? {}) as Json).url;
  const [, mediaType, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(String(url)) ?? [];
  if (data !== undefined) return placeholder(`image ${mediaType}${sizeOf(data)}`);
  return placeholder(typeof url === 'string' ? `image ${url}` : 'image');
}

function callText({ name, arguments: given, input }: Json): string {
  return placeholder(`call ${name}(${oneLine(String(given ?? input ?? ''))})`);
}

/** `, 12 KiB` of base64, if there is any. */
function sizeOf(base64: unknown): string {
  if (typeof base64 !== 'string' || base64 === '') return '';
  const bytes = Math.floor((base64.slice(base64.indexOf(',') + 1).length * 3) / 4);
  return `, ${sizeText(bytes)}`;
}

function placeholder(text: string): string {
  const line = oneLine(text);
  return `[${line.length > placeholderMax ? `${line.slice(0, placeholderMax)}…` : line}]`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function listOf(value: unknown): Json[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is Json => typeof one === 'object' && one !== null);
}

/** Removes terminal commands and other control characters but line ends and tabs. */
function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replace(/\r\n?/g, '\n')).replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => (character === '\n' || character === '\t' ? character : ''),
  );
}

/** Passages under their roles. Neighbours of the same role share a heading. */
export function formatPassages(passages: readonly Passage[], paint: Paint): string {
  let role = '';
  const blocks = passages.map((passage) => {
    const text = `${withoutControls(passage.text).trimEnd()}\n`;
    if (passage.role === role) return text;
    const gap = role === '' ? '' : '\n';
    role = passage.role;
    return `${gap}${paint('bold', withoutControls(role))}\n${text}`;
  });
  return blocks.join('');
}
