import type { ErrorObject } from 'ajv';
import type { SocketShape } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { parseJson } from '../json-body.ts';
import { faultsOf } from '../validation/faults.ts';
import { validatorOf } from '../validation/input-check.ts';

/** One frame as received. */
export interface Frame {
  bytes: Buffer;
  isBinary: boolean;
}

/** Parses a frame; fails with `invalid_json`. */
export function readMessage({ bytes, isBinary }: Frame, { jsonDepthMax }: { jsonDepthMax: number }): unknown {
  if (isBinary) {
    throw new ApiError('invalid_request', { message: 'Send text frames; this one was binary.' });
  }
  const message = parseJson(bytes, jsonDepthMax);
  if (message === undefined) throw new ApiError('invalid_json', { message: 'The frame is empty.' });
  return message;
}

/** Fails with `invalid_request`, naming the member, if a message does not match its contract. */
export function checkMessage(message: unknown, { message: schema }: SocketShape): void {
  checkType(message, schema);
  const validate = validatorOf(schema, { coerce: false, all: false });
  if (validate(message)) return;
  const [fault] = faultsOf((validate.errors ?? []) as ErrorObject[], message);
  throw new ApiError('invalid_request', { ...fault });
}

/** Checked first: otherwise members of another message type would be reported as missing. */
function checkType(message: unknown, schema: SocketShape['message']): void {
  const { properties } = schema as { properties?: { type?: { const?: string } } };
  const expected = properties?.type?.const;
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
  if ((message as { type?: unknown }).type === expected) return;
  throw new ApiError('invalid_request', { param: 'type', message: `\`type\` must be \`${expected}\`.` });
}
