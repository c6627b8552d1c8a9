import { invalid, isObject, optionalText, requiredText, unsupported } from '../../fault.ts';
import type { ContentPart } from '../../neutral.ts';

/** Content of a message or a tool's output: text, or a list of parts. */
export function parseContent(content: unknown, param: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of parts.');
  return content.map((part, index) => parsePart(part, `${param}[${index}]`));
}

function parsePart(part: unknown, param: string): ContentPart {
  if (!isObject(part)) throw invalid(param, 'A content part must be an object.');
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: requiredText(part.text, `${param}.text`) };
    case 'refusal':
      return { type: 'refusal', refusal: requiredText(part.refusal, `${param}.refusal`) };
    case 'input_image':
      return parseImage(part, param);
    case 'input_file':
      return parseFile(part, param);
    case 'input_audio':
      return parseAudio(part, param);
    default:
      throw unsupported(requiredText(part.type, `${param}.type`), param);
  }
}

function parseImage(part: Record<string, unknown>, param: string): ContentPart {
  const url = optionalText(part.image_url, `${param}.image_url`);
  if (url === undefined)
    throw invalid(`${param}.image_url`, 'An image needs image_url; stored files are not kept here.');
  if (!/^(data:|https?:\/\/)/i.test(url))
    throw invalid(`${param}.image_url`, 'This must be an http(s) or data URL.');
  const detail = optionalText(part.detail, `${param}.detail`);
  return { type: 'image', url, ...(detail === undefined ? {} : { detail }) };
}

function parseFile(part: Record<string, unknown>, param: string): ContentPart {
  const data = optionalText(part.file_data, `${param}.file_data`);
  const url = optionalText(part.file_url, `${param}.file_url`);
  const filename = optionalText(part.filename, `${param}.filename`);
  if (data === undefined && url === undefined)
    throw invalid(
      `${param}.file_data`,
      'A file needs file_data or file_url; stored files are not kept here.',
    );
  if (url !== undefined && !/^https?:\/\//i.test(url))
    throw invalid(`${param}.file_url`, 'This must be an http(s) URL.');
  return {
    type: 'file',
    ...(filename === undefined ? {} : { filename }),
    ...(data === undefined ? {} : { data }),
    ...(url === undefined ? {} : { url }),
  };
}

function parseAudio(part: Record<string, unknown>, param: string): ContentPart {
  const audio = isObject(part.input_audio) ? part.input_audio : {};
  return {
    type: 'audio',
    data: requiredText(audio.data, `${param}.input_audio.data`),
    format: requiredText(audio.format, `${param}.input_audio.format`),
  };
}
