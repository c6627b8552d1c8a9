import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import type { Semaphore } from '../../shared/async/semaphore.ts';
import { ApiError } from '../../shared/errors.ts';
import {
  mayBeDeep,
  parseWithExactValues,
  requestShape,
  type ShapeLimits,
  shapeFault,
} from '../../shared/json/json-text.ts';

/** The shortest text with as many members, `"":1,`. One with as many objects or values is longer. */
const smallBytes = requestShape.membersMax * 5;

const sentences: Record<keyof ShapeLimits, (max: number) => string> = {
  depthMax: (max) => `The body is nested more than ${max} levels deep.`,
  membersMax: (max) => `An object in the body has more than ${max} members.`,
  containersMax: (max) => `The body has more than ${max} objects and arrays.`,
  valuesMax: (max) => `The body has more than ${max} values.`,
};

/** Whether a body of this content type is accepted: only JSON in UTF-8, which web forms cannot send. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  if (!/^application\/json *(;|$)/i.test(contentType)) return false;
  const charsets = [...contentType.matchAll(/; *charset *= *"?([^";,\s]*)/gi)];
  return charsets.every(([, charset = '']) => /^utf-?8$/i.test(charset));
}

/** Parses a body. Undefined when it is empty; fails with `invalid_json`. */
export function parseJson(bytes: Buffer, depthMax: number): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' });
  const isSmall = bytes.length <= smallBytes;
  if (!isSmall) checkShape(bytes, depthMax);
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
  if (isSmall && mayBeDeep(text, depthMax)) checkShape(bytes, depthMax);
  try {
    return parseWithExactValues(text);
  } catch {
    // The parser's own message quotes the body, which must not be logged.
    throw new ApiError('invalid_json');
  }
}

function checkShape(bytes: Buffer, depthMax: number): void {
  const limits = { ...requestShape, depthMax };
  const fault = shapeFault(bytes, limits);
  if (fault !== undefined) throw new ApiError('invalid_json', { message: sentences[fault](limits[fault]) });
}

/** Fails if the headers alone show that the body will be rejected, so that none of it is read. */
export function checkBodyHeaders(headers: IncomingHttpHeaders, bytesMax: number): void {
  const length = headers['content-length'];
  const hasBody = headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
  if (!hasBody) return;
  if (length !== undefined && Number(length) > bytesMax) throw bodyTooLarge(bytesMax);
  if (!isJson(headers['content-type'])) throw new ApiError('unsupported_media_type');
  decompressionOf(headers);
}

const decompressions = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const;

/** How a body is decompressed, undefined if it is not compressed. Fails with `unsupported_media_type`. */
function decompressionOf({ 'content-encoding': header }: IncomingHttpHeaders) {
  const encoding = header?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return undefined;
  if (Object.hasOwn(decompressions, encoding)) return decompressions[encoding as keyof typeof decompressions];
  throw new ApiError('unsupported_media_type', {
    message: `The content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported. Send the body as gzip, deflate, br or zstd, or uncompressed.`,
  });
}

/** Bodies up to this size, as nearly all are, are decompressed immediately. */
const promptBytesMax = 1024 * 1024;

export interface CompressedBody {
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Once decompressed. */
  bytesMax: number;
  /** Who sent it. */
  owner: string;
}

/**
 * Decompresses a body and hands it on to be parsed. Large ones wait for their turn, as a few kilobytes can become many
 * megabytes. Fails with `limit_exceeded` as soon as it exceeds `bytesMax`.
 */
export async function decompress(
  { bytes, headers, bytesMax, owner }: CompressedBody,
  turns: Semaphore,
  take: (plain: Buffer) => void | Promise<void>,
): Promise<void> {
  const decompressBytes = decompressionOf(headers);
  if (decompressBytes === undefined) return await take(bytes);
  /** Undefined if there are more bytes. */
  const upTo = async (max: number, chunkSize?: number): Promise<Buffer | undefined> => {
    try {
      return await decompressBytes(bytes, { maxOutputLength: max, ...(chunkSize && { chunkSize }) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
      throw new ApiError('invalid_request', {
        message: `The body is not valid ${headers['content-encoding']} data.`,
      });
    }
  };
  const small = await upTo(Math.min(promptBytesMax, bytesMax));
  if (small !== undefined) return await take(small);
  if (bytesMax <= promptBytesMax) throw bodyTooLarge(bytesMax);
  const readLarge = async () => {
    const large = await upTo(bytesMax, promptBytesMax);
    if (large === undefined) throw bodyTooLarge(bytesMax);
    await take(large);
  };
  await turns.run(readLarge, { owner });
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError('limit_exceeded', { message: `The body must not exceed ${bytesMax} bytes.` });
}
