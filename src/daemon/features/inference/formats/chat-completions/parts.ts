import { invalid, isObject, optionalText, requiredText, unsupported } from '../../fault.ts';
import type { ContentPart } from '../../neutral.ts';

/** Content of a chat message: text, a list of parts, or nothing. */
export function parseChatContent(content: unknown, param: string): ContentPart[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of parts.');
  return content.flatMap((part, index) => parsePart(part, `${param}[${index}]`));
}

function parsePart(part: unknown, param: string): ContentPart[] {
  if (!isObject(part)) throw invalid(param, 'A content part must be an object.');
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: requiredText(part.text, `${param}.text`) }];
    case 'refusal':
      return [{ type: 'refusal', refusal: requiredText(part.refusal, `${param}.refusal`) }];
    case 'image_url':
      return [parseImage(part.image_url, `${param}.image_url`)];
    case 'input_audio':
      return [parseAudio(part.input_audio, `${param}.input_audio`)];
    case 'file':
      return [parseFile(part.file, `${param}.file`)];
    // Thoughts that some providers put into an assistant's content; they are no part of what was said.
    case 'thinking':
    case 'reasoning':
      return [];
    default:
      throw unsupported(requiredText(part.type, `${param}.type`), param);
  }
}

function parseImage(value: unknown, param: string): ContentPart {
  const image = typeof value === 'string' ? { url: value } : value;
  if (!isObject(image)) throw invalid(param, 'This must be an object with a url.');
  const urlParam = image === value ? `${param}.url` : param;
  const url = requiredText(image.url, urlParam);
  if (!/^(data:|https?:\/\/)/i.test(url)) throw invalid(urlParam, 'This must be an http(s) or data URL.');
  const detail = optionalText(image.detail, `${param}.detail`);
  return { type: 'image', url, ...(detail === undefined ? {} : { detail }) };
}

function parseAudio(value: unknown, param: string): ContentPart {
  if (!isObject(value)) throw invalid(param, 'This must be an object.');
  return {
    type: 'audio',
    data: requiredText(value.data, `${param}.data`),
    format: requiredText(value.format, `${param}.format`),
  };
}

function parseFile(value: unknown, param: string): ContentPart {
  if (!isObject(value)) throw invalid(param, 'This must be an object.');
  const filename = optionalText(value.filename, `${param}.filename`);
  const data = optionalText(value.file_data, `${param}.file_data`);
  if (data === undefined)
    throw invalid(`${param}.file_data`, 'A file needs file_data; stored files are not kept here.');
  return { type: 'file', data, ...(filename === undefined ? {} : { filename }) };
}
