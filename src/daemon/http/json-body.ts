import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { ApiError } from '../../shared/errors.ts';
import { parseWithExactConstants } from '../../shared/exact-json.ts';
import { mayBeDeep, shapeFault } from '../../shared/json-shape.ts';

/** Per object. */
const membersMax = 10_000;
/** Of a member with its separator: `"":1,`. */
const memberBytesMin = 5;

const sentences = {
  deep: (depthMax: number) => `The body is nested more than ${depthMax} levels deep.`,
  wide: () => `An object in the body has more than ${membersMax} members.`,
};

/** Whether a body of this content type is accepted: only JSON in UTF-8, which web forms cannot send. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType);
}

/** Parses a body. Undefined when it is empty; fails with `invalid_json`. */
export function parseJson(bytes: Buffer, depthMax: number): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' });
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
  const mayBeWide = bytes.length > membersMax * memberBytesMin;
  if (mayBeWide || mayBeDeep(text, depthMax)) {
    const fault = shapeFault(bytes, { depthMax, membersMax });
    if (fault !== undefined) throw new ApiError('invalid_json', { message: sentences[fault](depthMax) });
  }
  try {
    return parseWithExactConstants(text);
  } catch {
    // The parser's own message quotes the body, which must not be logged.
    throw new ApiError('invalid_json');
  }
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

/** Decompresses a body. Fails with `limit_exceeded` as soon as it exceeds `bytesMax`. */
export async function decompress(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  bytesMax: number,
): Promise<Buffer> {
  const decompressBytes = decompressionOf(headers);
  if (decompressBytes === undefined) return bytes;
  try {
    return await decompressBytes(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(bytesMax);
    throw new ApiError('invalid_request', {
      message: `The body is not valid ${headers['content-encoding']} data.`,
    });
  }
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError('limit_exceeded', { message: `The body must not exceed ${bytesMax} bytes.` });
}
