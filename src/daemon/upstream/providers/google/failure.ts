import { UpstreamFailure, type UpstreamFailureKind } from '../../../features/inference/upstream.ts';
import { countOf, type Json, listOf, objectOf, parseObject, textOf } from '../../json.ts';
import { standsBefore } from '../../response-body.ts';
import { kindOfStatus, refusal, retryAfterSeconds, retryAfterSecondsMax } from '../provider-failures.ts';
import { ownWords } from '../sanitize-provider-message.ts';

/** What a refusal means: `{error:{code, message, status, details[]}}`, sometimes in a list. */
export function failureOf(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  if (standsBefore(status, body)) {
    return new UpstreamFailure('server', `${name} answered ${status} with a web page`, { status });
  }
  const error = errorIn(parseObject(body) ?? parseObject(body.replace(/^\s*\[|\]\s*$/g, ''))) ?? {};
  return toFailure(`${name} answered`, status, error, retryAfterSeconds(headers));
}

/** An `error` object in a stream that had begun well; its code is an HTTP status. */
export function streamFailure(name: string, error: Json): UpstreamFailure {
  return toFailure(`${name} broke off with`, countOf(error.code) ?? 500, error, undefined);
}

export function errorIn(value: unknown): Json | undefined {
  return objectOf(objectOf(value)?.error);
}

function toFailure(
  what: string,
  status: number,
  error: Json,
  retryAfter: number | undefined,
): UpstreamFailure {
  const words = textOf(error.message) ?? '';
  const message = `${what} ${status} ${statusName(error)}`.trimEnd();
  const retryAfterSeconds = retryAfter ?? retryInfoSeconds(error);
  return refusal(kindOf(status, words, error), { message, status, words, retryAfterSeconds });
}

function kindOf(status: number, words: string, error: Json): UpstreamFailureKind {
  const own = ownWords(words);
  if (status === 402 || /enable billing|billing account|credits are depleted/i.test(own)) return 'billing';
  if (status === 400) {
    // A wrong key is told as a bad request.
    const isKey = reasons(error).some((reason) => reason.startsWith('API_KEY_'));
    if (isKey || /api key (not valid|not found|expired|is invalid)/i.test(own)) return 'authentication';
    // Nothing that the caller could change: where the provider is called from, for example.
    return error.status === 'FAILED_PRECONDITION' ? 'server' : 'caller';
  }
  // A file that a caller named: it says nothing of the key.
  if (status === 403 && /\bpermission to access the file\b/i.test(own)) return 'caller';
  return kindOfStatus(status);
}

function reasons(error: Json): string[] {
  return listOf(error.details).map((detail) => textOf(objectOf(detail)?.reason) ?? '');
}

/** google.rpc.RetryInfo: `retryDelay` is a number of seconds with an `s`. */
function retryInfoSeconds(error: Json): number | undefined {
  for (const detail of listOf(error.details)) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(textOf(objectOf(detail)?.retryDelay) ?? '');
    if (match) return Math.min(retryAfterSecondsMax, Math.ceil(Number(match[1])));
  }
  return undefined;
}

/** The name of the status, if it looks like one: it goes to logs, which must hold nothing of the request. */
function statusName(error: Json): string {
  const name = textOf(error.status) ?? '';
  return /^[A-Z_]{1,40}$/.test(name) ? name : '';
}
