import { listOf } from '../../shared/json/json-object.ts';
import { isObject, type Json, objectOf, objectsOf, parseObject } from './json.ts';

/** How deep the error of another server may be in an error. */
const wrappingsMax = 8;
/** The part of a text that is read. */
const readCharsMax = 8_000;

/**
 * What an error says, and of the error of a server behind this one that: routers and gateways put it into theirs, as JSON or the
 * text of it. Source: OpenRouter's API reference ("metadata.raw"), cline/cline#12800, cline/cline#5202, BerriAI/litellm#17131.
 */
export function sentenceOf(error: unknown, depth = 0): string {
  if (depth > wrappingsMax) return '';
  if (typeof error === 'string') return sentenceInText(error.slice(0, readCharsMax), depth) || error;
  if (!isObject(error)) return '';
  const { metadata, value, error: inner, detail, message, errors } = error;
  const behind = [objectOf(metadata)?.raw, objectOf(value)?.error_message];
  const own = [detail, message, inner, error.msg, error.error_message, error.error_msg, listOf(errors)[0]];
  for (const part of [...behind, ...own]) {
    const sentence = Array.isArray(part) ? faultIn(part) : sentenceOf(part, depth + 1);
    if (sentence) return sentence;
  }
  return '';
}

/** The beginning of an error in a text, and of its message, as LiteLLM writes them: `BadRequestError: … - b'{"error": {"message": "…"`. */
const errorStart = /^(?:\s|\\n){0,20}\\{0,8}["']error\\{0,8}["']\s{0,8}:/;
const messageStart = /["']message\\{0,8}["']\s{0,8}:\s{0,8}\\{0,8}["']/;
const messageEnd = /\\{0,8}["']\s{0,8}(?:[,}]|\\{1,8}n)/;
/** How far into a text, or an error, the next part is looked for. */
const reachMax = 300;

function sentenceInText(text: string, depth: number): string {
  const json = parseObject(jsonIn(text));
  if (json) return sentenceOf(json, depth + 1);
  const fault = pythonFault(text);
  if (fault) return fault;
  const brace = text.indexOf('{');
  const error = text.slice(brace + 1);
  if (brace < 0 || brace > reachMax || !errorStart.test(error)) return '';
  const start = messageStart.exec(error.slice(0, reachMax));
  const message = start ? error.slice(start.index + start[0].length) : '';
  const end = message.search(messageEnd);
  if (end < 1) return '';
  return message
    .slice(0, end)
    .replaceAll(/\\{1,8}n/g, ' ')
    .replaceAll(/\\{1,8}(["'])/g, '$1');
}

/** A fault of FastAPI as Python prints it. Source: vllm-project/vllm#6631, router-for-me/CLIProxyAPI#1572. */
function pythonFault(text: string): string | undefined {
  const printed = /'loc': \(([^()]{0,200})\), 'msg': (?:'([^']{1,300})'|"([^"]{1,300})")/.exec(
    text.slice(0, 2_000),
  );
  const [, place = '', plain, quoted] = printed ?? [];
  const loc = (place.match(/\w+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  return faultIn([{ loc, msg: plain ?? quoted }]);
}

/** What may be JSON in a text: some servers send a list of it, or an event. */
function jsonIn(text: string): string {
  const event = /^[ \t]*data:(.*)$/m.exec(text)?.[1];
  return event ?? text.replace(/^\s*\[|\]\s*$/g, '');
}

/**
 * The body of a refusal. Of one that is no JSON, it is the text if the server refuses what was asked; other texts and pages may be
 * of a server in between.
 */
export function refusalIn(status: number, body: string): Json | undefined {
  const json = parseObject(body) ?? parseObject(jsonIn(body));
  if (json || /^\s*(<|$)/.test(body) || (status !== 400 && status !== 413 && status !== 422)) return json;
  return { message: body.replaceAll(/^\s*"|"\s*$/g, '') };
}

/** FastAPI lists faults as `{loc, msg, input}`, where the input is the caller's. */
function faultIn(detail: unknown): string | undefined {
  const [fault] = objectsOf(detail);
  const path = faultPath(detail);
  if (fault === undefined || typeof fault.msg !== 'string') return undefined;
  return path === undefined ? fault.msg : `${path}: ${fault.msg}`;
}

export function faultPath(detail: unknown): string | undefined {
  const [fault] = objectsOf(detail);
  const path = listOf(fault?.loc).filter((step, at) => at > 0 || step !== 'body');
  if (path.length === 0) return undefined;
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1);
}
