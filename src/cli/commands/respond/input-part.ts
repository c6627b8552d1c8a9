import { extname } from 'node:path';

/** One part of a message's content, as the Responses format has it. */
type Part =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string };

const imageTypes: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/**
 * A file as a model takes it: images and documents as data URLs. Texts go into the prompt under their name, because many models
 * take no text files.
 */
export function inputPart(name: string, bytes: Uint8Array): Part {
  const imageType = imageTypes[extname(name).toLowerCase()];
  if (imageType) return { type: 'input_image', image_url: dataUrl(imageType, bytes) };
  if (extname(name).toLowerCase() === '.pdf') {
    return { type: 'input_file', filename: name, file_data: dataUrl('application/pdf', bytes) };
  }
  const text = textOf(bytes);
  if (text !== undefined) return { type: 'input_text', text: `${name}:\n\n${text}` };
  return { type: 'input_file', filename: name, file_data: dataUrl('application/octet-stream', bytes) };
}

function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** The bytes as UTF-8; undefined when they are not, or hold a zero byte as no text does. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
