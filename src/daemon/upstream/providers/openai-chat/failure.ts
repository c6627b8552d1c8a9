import {
  UpstreamFailure,
  type UpstreamFailureDetails,
  type UpstreamFailureKind,
} from '../../../features/upstreams/upstream.ts';
import { faultPath, refusalIn, sentenceOf } from '../../error-sentence.ts';
import { isObject } from '../../json.ts';
import { isHtmlRefusal } from '../../response-body.ts';
import { badKey, billing, noEndpoint, rate, statusIn, statusOf, vendorError } from '../../vendor-errors.ts';
import { accountFailure, explanationOf } from '../provider-failures.ts';
import { retryAfterSeconds, waitIn, waitSaid } from '../retry-after.ts';
import { sanitizeProviderMessage, unquotedStart } from '../sanitize-provider-message.ts';
import { saysTooLong, tooLongMessage } from '../too-long.ts';

/** The parts of an error body that are used. */
interface ErrorInfo {
  code: string;
  type: string;
  param: string | undefined;
  /** May quote keys and prompts: it is shown to callers only sanitized. */
  message: string;
  /** What the provider itself says, which is about the account there. */
  ownMessage: string;
  retryAfterSeconds: number | undefined;
  /** Whether there is a code, which may be a number: the sentence of an error without one may be anything. */
  hasCode: boolean;
  /** Whether moderation refused the input; other calls would be answered. */
  isFlagged: boolean;
}

const noModel = /model_not_found|unknown_model|model_not_exist|no_such_model/;
const noModelMessage =
  /model(?! turn\b)(?:(?!model)[^.]){0,120}(not found|does not exist|not exist|not supported|no longer available)|invalid model|not a valid model|unknown (provider for )?model\b|no (available|healthy) (channels?|deployments?|providers?) for\b.{0,20}\bmodel\b|model identifier is invalid|no endpoints found for /i;
const unsupported =
  /unsupported|not[ _]supported|does not support|unavailable now|no endpoints found that support/i;
const flagged = /content_policy|content_filter|moderation/;
/**
 * What servers say, with any status, of a model that they have and cannot run now. Sources: tinyhumansai/openhuman#4181,
 * continuedev/continue#10150, NousResearch/hermes-agent#102044, lmstudio-ai/lmstudio-bug-tracker#1492 and #2255, Blaizzy/mlx-vlm#1717.
 */
const notRunning =
  /\b(no models? (is |are )?loaded|(failed|unable|could not|error) (to )?load(ing)? (the )?model|model (is |was )?unloaded|model has crashed)\b/i;
/** Also with 500, what the template of a model says of the messages. Source: ggml-org/llama.cpp#19851, ollama/ollama#17778. */
const badTurns = /\bno user query found\b|\broles must alternate\b/i;
const badKeyMessage = /(incorrect|invalid)[^.]{0,20}api key|api key[^.]{0,20}(incorrect|invalid|not valid)/i;

/**
 * Interprets an error of an OpenAI-compatible provider. Source: OpenAI's error codes, and the shapes of vLLM, Mistral
 * (`{object: "error"}`), FastAPI (`{detail}`), Ollama (`{error: "…"}`) and OpenRouter (numbers as codes).
 */
export function openAiFailure(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const info = errorInfoOf(refusalIn(status, body));
  const isNotRunning = notRunning.test(unquotedStart(info.ownMessage));
  const kind = isNotRunning || isHtmlRefusal(status, body) ? 'server' : kindOf(status, info);
  const details: UpstreamFailureDetails = { status };
  const said = kind === 'rate-limited' ? waitSaid(info.message) : undefined;
  const retryAfter = retryAfterSeconds(headers) ?? info.retryAfterSeconds ?? said;
  if (retryAfter !== undefined) details.retryAfterSeconds = retryAfter;
  if (kind === 'caller') Object.assign(details, callerDetails(status, info));

  const code = info.code || info.type;
  if (isNotRunning || info.hasCode || code !== '')
    Object.assign(details, explanationOf(kind, code, info.message));
  return new UpstreamFailure(kind, `${name} answered ${status}${code && ` (${code})`}`, details);
}

/** Interprets an error in the middle of a stream, the `error` of a chunk or of a failed response. */
export function openAiStreamFailure(name: string, error: unknown): UpstreamFailure {
  return openAiFailure(name, statusOf(error), {}, JSON.stringify({ error }));
}

/** Interprets an event that says in its vendor's own shape that the call failed; undefined for others. */
export function vendorStreamFailure(
  name: string,
  event: Record<string, unknown>,
): UpstreamFailure | undefined {
  const error = vendorError(event);
  return error && openAiStreamFailure(name, { code: error.code ?? error.status, message: error.message });
}

function errorInfoOf(body: Record<string, unknown> | undefined): ErrorInfo {
  const vendor = body?.error === undefined && body ? vendorError(body) : undefined;
  const error = vendor
    ? { code: vendor.code ?? vendor.status, message: vendor.message }
    : (body?.error ?? body ?? {});
  if (!isObject(error)) {
    const message = sentenceOf(error);
    const without = { code: '', type: '', param: undefined, retryAfterSeconds: undefined };
    return { ...without, message, ownMessage: message, hasCode: false, isFlagged: false };
  }
  const metadata = isObject(error.metadata) ? error.metadata : {};
  const code = identifierOf(error.code) || identifierOf(error.status);
  const type = identifierOf(error.type);
  return {
    code,
    type,
    hasCode: statusIn(error.code ?? error.status) !== undefined,
    isFlagged: 'flagged_input' in metadata || 'reasons' in metadata || flagged.test(`${code} ${type}`),
    param: paramOf(error.param) ?? paramOf(faultPath(error.detail)),
    message: sentenceOf(error),
    ownMessage: sentenceOf({ ...error, metadata: undefined, value: undefined }),
    retryAfterSeconds: waitIn(error),
  };
}

function kindOf(
  status: number,
  { code, type, message, ownMessage, isFlagged }: ErrorInfo,
): UpstreamFailureKind {
  const identifiers = `${code} ${type}`;
  if (status === 402 || billing.test(identifiers)) return 'billing';
  const ofAccount = isFlagged ? undefined : accountFailure(status, ownMessage);
  // A more exact code says that the model is not there at all.
  if (ofAccount !== undefined && !(ofAccount === 'forbidden' && noModel.test(identifiers))) return ofAccount;
  // First, since some providers send 400 or 413 for rate limits.
  if (status === 429 || status === 498 || rate.test(identifiers)) return 'rate-limited';
  if (
    status === 401 ||
    badKey.test(identifiers) ||
    (status < 500 && badKeyMessage.test(unquotedStart(ownMessage)))
  )
    return 'authentication';
  if (noModel.test(identifiers)) return 'unknown-model';
  if (status === 403) return isFlagged ? 'caller' : 'forbidden';
  if (status === 404) return kindOfNotFound(code, ownMessage);
  const isRefusal = status === 400 || status === 413 || status === 422;
  // Some servers report it as an error of their own.
  if (!isRefusal)
    return badTurns.test(message) || saysTooLong(`${code} ${type} ${message}`) ? 'caller' : 'server';
  if (unsupported.test(code)) return 'caller';
  return noModelMessage.test(message) && !saysTooLong(message) ? 'unknown-model' : 'caller';
}

/** What was not found: the URL, a feature that the request needs, or the model. */
function kindOfNotFound(code: string, message: string): UpstreamFailureKind {
  if (code === '' && (/^(not found)?$/i.test(message) || noEndpoint.test(message))) return 'server';
  return unsupported.test(message) ? 'caller' : 'unknown-model';
}

/** The provider's own explanation, or ours where it has none. */
function callerDetails(status: number, info: ErrorInfo): UpstreamFailureDetails {
  const { code, param, message, isFlagged } = info;
  const publicMessage = sanitizeProviderMessage(message);
  const exactCode = code !== '' && { exactCode: code };
  if (isFlagged) {
    const usual = 'The provider’s moderation refused the input.';
    return {
      code: 'invalid_request',
      ...exactCode,
      publicMessage: publicMessage || usual,
      param: param ?? null,
    };
  }
  const text = `${code} ${message}`;
  if (saysTooLong(text)) {
    const sentence = publicMessage || tooLongMessage;
    return { code: 'context_length_exceeded', publicMessage: sentence, param: param ?? null };
  }
  const field = param ?? mentionedParam(message);
  if (unsupported.test(text)) {
    const usual = `The model does not support ${field === undefined ? 'a value in the request' : `this value of ${field}`}.`;
    return { code: 'unsupported_value', publicMessage: publicMessage || usual, param: field ?? null };
  }
  const where = field === undefined ? '' : ` because of ${field}`;
  const size = status === 413 ? ' as too large' : '';
  return {
    code: 'invalid_request',
    ...exactCode,
    publicMessage: publicMessage || `The provider refused the request${size}${where}.`,
    param: field ?? null,
  };
}

const knownParams =
  /\b(temperature|top_p|top_k|top_logprobs|logprobs|logit_bias|max_tokens|max_completion_tokens|max_output_tokens|stop|seed|presence_penalty|frequency_penalty|response_format|reasoning_effort|reasoning|verbosity|tool_choice|parallel_tool_calls|tools|stream_options|image_url|messages|input)\b/;

function mentionedParam(message: string): string | undefined {
  return knownParams.exec(message)?.[1];
}

function identifierOf(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value) ? value.toLowerCase() : '';
}

function paramOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_.[\]]{0,63}$/.test(value) ? value : undefined;
}
