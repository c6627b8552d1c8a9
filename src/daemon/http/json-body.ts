import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import { shapeFault } from '../../shared/json-shape.ts';

/** Per object. */
const membersMax = 10_000;

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
  const fault = bytes.length > depthMax ? shapeFault(bytes, { depthMax, membersMax }) : undefined;
  if (fault !== undefined) throw new ApiError('invalid_json', { message: sentences[fault](depthMax) });
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
  try {
    return JSON.parse(text);
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
  const encoding = headers['content-encoding'];
  if (!isJson(headers['content-type']) || (encoding !== undefined && encoding !== 'identity')) {
    throw new ApiError('unsupported_media_type');
  }
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError('limit_exceeded', { message: `The body must not exceed ${bytesMax} bytes.` });
}
