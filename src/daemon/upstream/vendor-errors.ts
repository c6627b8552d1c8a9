import { isObject, type Json, objectsOf, textOf } from './json.ts';

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
  const { code = json.error_code, success } = json;
  if (success !== false && code === undefined) return undefined;
  const [first] = objectsOf(json.errors);
  const message =
    textOf(json.msg) ?? textOf(json.message) ?? textOf(json.error_msg) ?? textOf(first?.message);
  if (success !== false && message === undefined) return undefined;
  if (answerMembers.some((name) => json[name] !== undefined && json[name] !== null)) return undefined;
  const name = textOf(code)?.replace(/([a-z])([A-Z])/g, '$1_$2');
  return {
    status: statusIn(code) ?? 500,
    ...(name !== undefined && statusIn(code) === undefined && { code: name }),
    message: message ?? '',
  };
}

/** A status that is written as a code. */
export function statusIn(code: unknown): number | undefined {
  const number = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof number === 'number' && number >= 400 && number <= 599 ? number : undefined;
}
