import { ApiError } from '../../../shared/errors.ts';

/** The caller's mistake, with the place of it as the caller wrote it: `input[2].content`. */
export function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', { param, message });
}

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that is text, or undefined when it is absent or null; anything else is the caller's mistake. */
export function optionalText(value: unknown, param: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(param, 'This must be a string.');
  return value;
}

/** The same of a flag. */
export function optionalFlag(value: unknown, param: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalid(param, 'This must be a boolean.');
  return value;
}

export function requiredText(value: unknown, param: string): string {
  if (typeof value !== 'string') throw invalid(param, 'This must be a string.');
  return value;
}

/** A part of a message or of a tool's output that is of no type known here. */
export function unsupported(type: string, param: string): ApiError {
  return invalid(`${param}.type`, `Content parts of type ${quoted(type)} are not supported.`);
}

/** A failure repeats no more of what it was sent than this many characters. */
const quotedCharsMax = 64;

/** A name out of the request, for a message: in quotes, what JSON would escape escaped, and cut where it is long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > quotedCharsMax ? `${name.slice(0, quotedCharsMax)}…` : name);
}
