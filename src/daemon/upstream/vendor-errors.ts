import { sentenceOf } from './error-sentence.ts';
import { isObject, type Json, objectOf, textOf } from './json.ts';

/** An error that is not in the shape of its format. */
export interface VendorError {
  status: number;
  /** An identifier; undefined if the code is a number. */
  code?: string;
  message: string;
}

/** What MiniMax's codes would be as statuses; others are 500. Source: MiniMax's API reference, "Error codes". */
const statusByBaseCode = new Map<unknown, number>([
  ...[1002, 1039, 1041, 2045, 2056].map((code) => [code, 429] as const),
  ...[1004, 2049].map((code) => [code, 401] as const),
  [1008, 402],
  ...[1026, 1027, 1042, 2013, 20132].map((code) => [code, 400] as const),
]);

/** Members of which an answer in any format has one. */
const answerMembers = ['choices', 'output', 'content', 'candidates', 'data', 'embeddings', 'embedding'];

/**
 * The error in a document or event that was sent as a success: MiniMax's `base_resp`, or `{code, msg, success}` as Z.ai and
 * others send it. Undefined if there is none.
 */
export function vendorError(json: Json): VendorError | undefined {
  const { base_resp: base } = json;
  if (isObject(base)) {
    const { status_code: code } = base;
    if (code === undefined || code === null || Number(code) === 0) return undefined;
    return { status: statusByBaseCode.get(Number(code)) ?? 500, message: textOf(base.status_msg) ?? '' };
  }
  const { code = json.error_code ?? json.error_type, success } = json;
  if (success !== false && (code === undefined || successCodes.has(String(code)))) return undefined;
  const message = sentenceOf(json);
  if (success !== false && message === '') return undefined;
  if (answerMembers.some((name) => json[name] !== undefined && json[name] !== null)) return undefined;
  const name = textOf(code)?.replace(/([a-z])([A-Z])/g, '$1_$2');
  return {
    status: statusOf({ code: name ?? code }),
    ...(name !== undefined && statusIn(code) === undefined && { code: name }),
    message,
  };
}

const successCodes = new Set(['0', '200', 'success', 'Success', 'OK', 'ok']);

/** The error in a document or event; undefined if there is none, or an empty one. */
export function errorMember({ error }: Json): unknown {
  if (!error || (typeof error === 'object' && Object.keys(error).length === 0)) return undefined;
  return error;
}

/** What codes and types of errors say, in lower case. */
export const billing =
  /insufficient_quota|insufficient_balance|insufficient_credits|billing|payment_required|arrearage/;
export const rate = /rate_limit|too_many_requests|resource_exhausted|throttling/;
export const badKey = /invalid_api_key|incorrect_api_key|authentication|unauthorized|invalid_token/;
const refused =
  /invalid_prompt|invalid_request|bad_?request|context_length|unsupported|invalid_image|image_|tool_use_failed/;

/** LM Studio says so of addresses that it does not have, as a success. */
export const noEndpoint = /^unexpected endpoint or method/i;

/** The status of an error that was not sent with one of its own. */
export function statusOf(error: unknown): number {
  if (typeof error === 'string' && noEndpoint.test(error)) return 404;
  const { code, status, status_code, type } = objectOf(error) ?? {};
  const number = statusIn(code ?? status) ?? statusIn(status_code);
  if (number !== undefined) return number;
  const words = [code, status, type]
    .filter((word) => typeof word === 'string')
    .join(' ')
    .toLowerCase();
  if (billing.test(words)) return 402;
  if (rate.test(words)) return 429;
  if (badKey.test(words)) return 401;
  return refused.test(words) ? 400 : 500;
}

/** A status that is written as a code. */
export function statusIn(code: unknown): number | undefined {
  const number = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof number === 'number' && number >= 400 && number <= 599 ? number : undefined;
}
