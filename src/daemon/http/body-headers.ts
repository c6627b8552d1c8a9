import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import { isJson } from './json-body.ts';

/** Fails when the headers alone tell that the body will not be accepted, so that none of it is read. */
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
  return new ApiError('limit_exceeded', { message: `The body may have at most ${bytesMax} bytes.` });
}
