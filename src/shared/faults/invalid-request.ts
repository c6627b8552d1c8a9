import { ApiError } from '../errors.ts';
import { isObject } from '../json/json-object.ts';
import { quoted } from './not-found.ts';

/** An `invalid_request` error; `param` is the path of the faulty member in the request body: `input[2].content`. */
export function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', { param, message });
}

export { isObject, type JsonObject as Json } from '../json/json-object.ts';

/** What `parse` returns; undefined if it throws an ApiError. */
export function ifValid<Parsed>(parse: () => Parsed): Parsed | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Undefined when the value is absent or null. Fails with `invalid_request` when it is not a string. */
export function optionalText(value: unknown, param: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(param, 'This must be a string.');
  return value;
}

/** Undefined when the value is absent or null. Fails with `invalid_request` when it is not a boolean. */
export function optionalFlag(value: unknown, param: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalid(param, 'This must be a boolean.');
  return value;
}

/** The arguments of a call as JSON text: agents keep them as objects, too. Source: bytedance/deer-flow#4445. */
export function argumentsText(value: unknown, param: string): string {
  return isObject(value) ? JSON.stringify(value) : optionalText(value, param) || '{}';
}

export function requiredText(value: unknown, param: string): string {
  if (typeof value !== 'string') throw invalid(param, 'This must be a string.');
  return value;
}

export function unsupportedPart(type: string, param: string): ApiError {
  return invalid(`${param}.type`, `Content parts of type ${quoted(type)} are not supported.`);
}

/** For sealed text that this daemon did not seal for this workspace. */
export function notSealedHere(param: string): ApiError {
  return invalid(param, 'This was not sealed by this gateway for this workspace, or it is damaged.');
}
