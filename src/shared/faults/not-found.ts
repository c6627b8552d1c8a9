import { ApiError } from '../errors.ts';

/** A `not_found` error for something that does not exist, with the name or id by which it was asked for. */
export function notFound(noun: string, name: string, param?: string): ApiError {
  return new ApiError('not_found', { message: missing(noun, name), ...(param !== undefined && { param }) });
}

/**
 * A sentence about what a path names but does not exist: `There is no payment "pay_x".` for `/api/payments/{paymentId}`.
 * Undefined if the path has no parameters. The last parameter is taken for what is missing.
 */
export function missingResource(template: string, params: Record<string, unknown>): string | undefined {
  const steps = template.split('/');
  const last = steps.findLastIndex((step) => step.startsWith('{'));
  const [, name] = /^\{(\w+)/.exec(steps[last] ?? '') ?? [];
  if (name === undefined) return undefined;
  const segment = steps[last - 1] ?? '';
  const noun = name === 'id' ? segment.replace(/s$/, '') : name.replace(/(Id|_id)$/, '');
  return missing(noun, String(params[name]));
}

/** A sentence about something that does not exist: `There is no user "ann".` */
export function missing(noun: string, name: string): string {
  return `There is no ${noun} ${quoted(name)}.`;
}

const quotedCharsMax = 64;

/** A value from the request for use in an error message: JSON-quoted, and shortened when long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > quotedCharsMax ? `${text.slice(0, quotedCharsMax)}…` : text);
}
