import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { exitCodes } from '../../../shared/errors.ts';
import { decodeText } from '../../../shared/text/decode-text.ts';
import { sizeText } from '../../../shared/text/size-text.ts';
import { CliError } from '../../failures/cli-error.ts';
import { whyNotRead } from '../../failures/file-faults.ts';

/** One part of a message's content in the Responses format. */
export type Part =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string };

/** A file for a model. */
export interface Attachment {
  name: string;
  /** In bytes. */
  size: number;
  part: Part;
}

/** A request may have 32 MiB, and base64 adds a third. */
export const attachmentsMax = 21 * 1024 * 1024;

const types: readonly { type: string; matches: (head: string) => boolean }[] = [
  { type: 'image/png', matches: (head) => head.startsWith('\u0089PNG\r\n') },
  { type: 'image/jpeg', matches: (head) => head.startsWith('\u00ff\u00d8\u00ff') },
  { type: 'image/gif', matches: (head) => head.startsWith('GIF8') },
  { type: 'image/webp', matches: (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP' },
  { type: 'application/pdf', matches: (head) => head.startsWith('%PDF-') },
];

/**
 * Reads images, PDFs and text files for a model. Fails for others, and if together they are too large. The path `-` stands for
 * what was piped in, if that is given.
 */
export function readAttachments(
  paths: readonly string[],
  { stdin }: { stdin?: Uint8Array } = {},
): Attachment[] {
  let left = attachmentsMax;
  return paths.map((given) => {
    const isPiped = given === '-' && stdin !== undefined;
    const path = isPiped ? 'standard input' : given;
    const bytes = isPiped ? stdin : readUpTo(path, left);
    if (bytes === undefined || bytes.length > left) {
      const limit = `${paths.length > 1 ? 'the files' : path}: at most ${sizeText(attachmentsMax)} can be attached`;
      throw new CliError(`Too large: ${limit}.`, { exit: exitCodes.usage });
    }
    left -= bytes.length;
    return { name: basename(path), size: bytes.length, part: partOf(path, bytes) };
  });
}

/** Of an image or a PDF, by its first bytes. */
export function mediaType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return types.find(({ matches }) => matches(head))?.type;
}

/** Images and PDFs become data URLs; text goes into the prompt with its name, as many models accept no text files. */
function partOf(path: string, bytes: Uint8Array): Part {
  const name = basename(path);
  const type = mediaType(bytes);
  if (type === 'application/pdf')
    return { type: 'input_file', filename: name, file_data: dataUrl(type, bytes) };
  if (type !== undefined) return { type: 'input_image', image_url: dataUrl(type, bytes) };
  const text = textOf(bytes);
  if (text !== undefined) return { type: 'input_text', text: `${name}:\n\n${text}` };
  throw new CliError(`${path} is neither text, a PDF, nor a PNG, JPEG, GIF or WebP image.`, {
    exit: exitCodes.usage,
  });
}

/** Undefined if there is more. Pipes such as `<(git diff)` have no size, so it is not asked for. */
function readUpTo(path: string, most: number): Uint8Array | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const chunks: Uint8Array[] = [];
      let size = 0;
      while (size <= most) {
        const chunk = new Uint8Array(Math.min(1 << 20, most + 1));
        const count = readSync(file, chunk);
        if (count === 0) return Buffer.concat(chunks);
        chunks.push(chunk.subarray(0, count));
        size += count;
      }
      return undefined;
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new CliError(whyNotRead(path, cause as NodeJS.ErrnoException), { exit: exitCodes.usage, cause });
  }
}

function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}

/** Undefined if the bytes are not text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = decodeText(bytes, { fatal: true });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
