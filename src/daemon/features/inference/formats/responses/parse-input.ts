import { ApiError } from '../../../../../shared/errors.ts';
import {
  argumentsText,
  invalid,
  isObject,
  type Json,
  notSealedHere,
  optionalText,
  requiredText,
  unsupportedPart,
} from '../../../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../../../shared/faults/not-found.ts';
import { haveTooManyContainers, requestShape } from '../../../../../shared/json/json-text.ts';
import { looksLikeSummary, looksSealed } from '../../../calls/index.ts';
import {
  type ContentPart,
  cacheMarkIn,
  calledBy,
  type FunctionCallItem,
  type FunctionOutputItem,
  type InputItem,
  type MessageItem,
  type OpaqueItem,
  type ReasoningItem,
  type ReasoningOrigin,
  type Upload,
} from '../../../upstreams/neutral.ts';
import { ownContent } from '../spellings.ts';
import { encryptedPart, inOtherFormats } from './foreign-items.ts';

/** Opens sealed reasoning; undefined when it was not sealed for this workspace. */
export type OpenSealed = (sealed: string) => ReasoningOrigin | undefined;

/** Opens a sealed summary; undefined when it was not sealed for this workspace. */
export type OpenSummary = (sealed: string) => string | undefined;

const roles = ['user', 'system', 'developer', 'assistant'] as const;
const partTypes = new Set([
  ...['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text', 'refusal'],
  ...['input_image', 'input_file', 'input_audio'],
]);

/** The `input` of a create call; a string is one user message. */
export function parseInput(
  input: unknown,
  open: OpenSealed,
  openSummary: OpenSummary = () => undefined,
): InputItem[] {
  if (typeof input === 'string')
    return [
      parseItem({ type: 'message', role: 'user', content: input }, { param: 'input', open, openSummary }),
    ];
  if (!Array.isArray(input)) throw invalid('input', 'This must be a string or a list of items.');
  return input.map((item, index) => parseItem(item, { param: `input[${index}]`, open, openSummary }));
}

export interface ItemContext {
  /** Path of the item in the request. */
  param: string;
  open: OpenSealed;
  openSummary: OpenSummary;
}

/** One item in the Responses format. Items of unknown types, roles or parts become opaque. */
export function parseItem(given: unknown, { param, open, openSummary }: ItemContext): InputItem {
  if (!isObject(given)) throw invalid(param, 'An input item must be an object.');
  const item = hasForeignParts(given, param) ? withOwnContent(given) : given;
  const unknown = unknownIn(item, param);
  if (unknown !== undefined) {
    // The id is the gateway's.
    const { id: _id, ...json } = item;
    return { type: 'opaque', wire: 'responses', json, param, unknown };
  }
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      return parseMessage(item, param);
    case 'function_call':
      return parseCall(item, param, argumentsText(item.arguments, `${param}.arguments`));
    case 'custom_tool_call': {
      const call = parseCall(item, param, requiredText(item.input, `${param}.input`));
      call.custom = true;
      return call;
    }
    case 'function_call_output':
      return item.call_id === null ? parseForeign(item, param) : parseOutput(item, param);
    case 'custom_tool_call_output':
      if (item.call_id === null) return parseForeign(item, param);
      return { ...parseOutput(item, param), custom: true };
    case 'reasoning':
      return { ...parseReasoning(item, param, open), ...idOf(item, param) };
    case 'compaction':
      return parseCompaction(item, param, openSummary);
    default:
      return parseForeign(item, param);
  }
}

function hasForeignParts(item: Json, param: string): boolean {
  const { content } = item;
  if (Array.isArray(content) && content.some((part) => isObject(part) && isObject(part.image_url)))
    return true;
  return unknownIn(item, param) !== undefined;
}

/** An item whose parts are those of this format. */
function withOwnContent(item: Json): Json {
  for (const name of ['content', 'output']) {
    const own = ownContent(item[name], 'responses');
    if (own !== item[name]) return { ...item, [name]: own };
  }
  return item;
}

function idOf(item: Json, param: string): { id?: string } {
  const id = optionalText(item.id, `${param}.id`);
  return id === undefined ? {} : { id };
}

/** An item of a type that only this format has, or an output that answers no call. */
function parseForeign(item: Json, param: string): OpaqueItem {
  requiredText(item.type, `${param}.type`);
  const opaque = { type: 'opaque', wire: 'responses', json: item, param } as const;
  const encrypted = encryptedPart(item);
  if (encrypted >= 0) return { ...opaque, mustReach: `${param}.content[${encrypted}].encrypted_content` };
  const elsewhere = inOtherFormats(item, param, (parts) => parseContent(parts, param));
  return elsewhere ? { ...opaque, elsewhere } : opaque;
}

/** The path of an unknown role, or of the type of an unknown part, in an item of a known type. */
function unknownIn({ type = 'message', role, content, output }: Json, param: string): string | undefined {
  const isMessage = type === 'message' || type === null;
  if (isMessage && typeof role === 'string' && !roles.some((known) => known === role)) return `${param}.role`;
  const isOutput = type === 'function_call_output' || type === 'custom_tool_call_output';
  const [name, parts] = isMessage ? ['content', content] : isOutput ? ['output', output] : ['', undefined];
  return unknownPart(parts, `${param}.${name}`, partTypes);
}

/** The path of the type of the first part whose type is not known. */
export function unknownPart(parts: unknown, param: string, known: ReadonlySet<string>): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const at = parts.findIndex(
    (part) => isObject(part) && typeof part.type === 'string' && !known.has(part.type),
  );
  return at < 0 ? undefined : `${param}[${at}].type`;
}

function parseCall(item: Json, param: string, text: string): FunctionCallItem {
  const call: FunctionCallItem = {
    type: 'function_call',
    callId: callIdOf(item, param),
    name: requiredText(item.name, `${param}.name`),
    arguments: text,
    json: item,
  };
  const namespace = optionalText(item.namespace, `${param}.namespace`);
  if (namespace !== undefined) call.namespace = namespace;
  const id = optionalText(item.id, `${param}.id`);
  if (id !== undefined) call.id = id;
  return call;
}

function parseOutput(item: Json, param: string): FunctionOutputItem {
  if (item.output === undefined) throw invalid(`${param}.output`, 'The tool output is missing.');
  return {
    type: 'function_call_output',
    callId: callIdOf(item, param),
    output: parseContent(item.output, `${param}.output`),
    json: item,
  };
}

function parseMessage(item: Json, param: string): Extract<InputItem, { type: 'message' }> {
  const role = roles.find((known) => known === item.role);
  if (role === undefined)
    throw invalid(`${param}.role`, 'This must be user, system, developer or assistant.');
  if (item.content === undefined) throw invalid(`${param}.content`, 'A message needs content.');
  const content = parseContent(item.content, `${param}.content`);
  const message: MessageItem = { type: 'message', role, content, json: item };
  const phase = optionalText(item.phase, `${param}.phase`);
  if (phase !== undefined) message.phase = phase;
  const id = optionalText(item.id, `${param}.id`);
  if (id !== undefined) message.id = id;
  return message;
}

function callIdOf(item: Json, param: string): string {
  const callId = requiredText(item.call_id, `${param}.call_id`);
  if (callId === '') throw invalid(`${param}.call_id`, 'This must not be empty.');
  return callId;
}

function summaryOf(item: Json, param: string): string[] {
  const summary = item.summary ?? [];
  if (!Array.isArray(summary)) throw invalid(`${param}.summary`, 'This must be a list.');
  return summary.map((part, index) => {
    if (!isObject(part)) throw invalid(`${param}.summary[${index}]`, 'This must be an object.');
    return requiredText(part.text, `${param}.summary[${index}].text`);
  });
}

/** Reasoning that a provider encrypted is passed to providers of the same format only. */
function parseReasoning(item: Json, param: string, open: OpenSealed): ReasoningItem | OpaqueItem {
  const sealedParam = `${param}.encrypted_content`;
  const sealed = optionalText(item.encrypted_content, sealedParam);
  const summary = summaryOf(item, param);
  if (sealed === undefined) return { type: 'reasoning', summary, origin: undefined };
  const origin = open(sealed);
  if (origin !== undefined) return { type: 'reasoning', summary, origin };
  if (looksSealed(sealed)) throw notSealedHere(sealedParam);
  return { type: 'opaque', wire: 'responses', json: item, param, mustReach: sealedParam };
}

/** Fails with `unknown_call_id` when a tool output has no earlier call. `newFrom` is the index of the request's first own item. */
export function checkCallIds(items: readonly InputItem[], newFrom: number): void {
  let known: Set<string> | undefined;
  items.forEach((item, index) => {
    const call = calledBy(item);
    if (call !== undefined) {
      known ??= new Set();
      known.add(call);
    } else if (item.type === 'function_call_output' && !known?.has(item.callId)) {
      throw new ApiError('unknown_call_id', {
        param: `input[${Math.max(0, index - newFrom)}].call_id`,
        message: `There is no earlier function call with call_id ${quoted(item.callId)}.`,
      });
    }
  });
}

/**
 * Some providers take the arguments of calls as objects: fails if these texts have more in them than a body may have.
 * `param`: of the conversation.
 */
export function checkArguments(items: readonly InputItem[], param: string): void {
  const texts = items.flatMap((item) =>
    item.type === 'function_call' && !item.custom ? item.arguments : [],
  );
  if (!haveTooManyContainers(texts)) return;
  throw invalid(
    param,
    `The arguments of the function calls have more than ${requestShape.containersMax} objects and arrays in all.`,
  );
}

/** Content of a message or a tool output: a string or a list of parts. */
function parseContent(content: unknown, param: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'This must be a string or a list of parts.');
  return content.map((part, index) => parsePart(part, `${param}[${index}]`));
}

function parsePart(part: unknown, param: string): ContentPart {
  if (!isObject(part)) throw invalid(param, 'A content part must be an object.');
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: requiredText(part.text, `${param}.text`), ...cacheMarkIn(part) };
    case 'refusal':
      return { type: 'refusal', refusal: requiredText(part.refusal, `${param}.refusal`) };
    case 'input_image':
      return { ...parseImage(part, param), ...cacheMarkIn(part) };
    case 'input_file':
      return { ...parseFile(part, param), ...cacheMarkIn(part) };
    case 'input_audio':
      return parseAudio(part, param);
    default:
      throw unsupportedPart(requiredText(part.type, `${param}.type`), param);
  }
}

function parseImage(part: Record<string, unknown>, param: string): ContentPart {
  const detail = optionalText(part.detail, `${param}.detail`);
  const withDetail = detail === undefined ? {} : { detail };
  const upload = uploadOf(part, param);
  if (upload) return { type: 'image', url: '', upload, ...withDetail };
  const url = optionalText(part.image_url, `${param}.image_url`);
  if (url === undefined) throw invalid(`${param}.image_url`, 'An image needs image_url or file_id.');
  if (!/^(data:|https?:\/\/)/i.test(url))
    throw invalid(`${param}.image_url`, 'This must be an http(s) or data URL.');
  return { type: 'image', url, ...withDetail };
}

/** A file or image by its id at a provider. */
export function uploadOf({ file_id: value }: Json, param: string): Upload | undefined {
  const id = optionalText(value, `${param}.file_id`);
  return id === undefined ? undefined : { id, param: `${param}.file_id` };
}

function parseFile(part: Record<string, unknown>, param: string): ContentPart {
  const upload = uploadOf(part, param);
  if (upload) return { type: 'file', upload };
  const given = optionalText(part.file_data, `${param}.file_data`);
  const isUrl = /^https?:\/\//i.test(given ?? '');
  const data = isUrl ? undefined : given;
  const url = isUrl ? given : optionalText(part.file_url, `${param}.file_url`);
  const filename = optionalText(part.filename, `${param}.filename`);
  if (data === undefined && url === undefined)
    throw invalid(`${param}.file_data`, 'A file needs file_data, file_url or file_id.');
  if (url !== undefined && !/^https?:\/\//i.test(url))
    throw invalid(`${param}.file_url`, 'This must be an http(s) URL.');
  return {
    type: 'file',
    ...(filename === undefined ? {} : { filename }),
    ...(data === undefined ? {} : { data }),
    ...(url === undefined ? {} : { url }),
  };
}

function parseAudio(part: Record<string, unknown>, param: string): ContentPart {
  const audio = isObject(part.input_audio) ? part.input_audio : {};
  return {
    type: 'audio',
    data: requiredText(audio.data, `${param}.input_audio.data`),
    format: requiredText(audio.format, `${param}.input_audio.format`),
  };
}

const compactionTriggerType = 'compaction_trigger';
const summaryHeading = 'Notes on the conversation so far, which was shortened:';

/** One sealed by this daemon becomes a message; any other is passed to providers of the same format only. */
function parseCompaction(item: Json, param: string, open: OpenSummary): InputItem {
  const sealedParam = `${param}.encrypted_content`;
  const sealed = requiredText(item.encrypted_content, sealedParam);
  const summary = open(sealed);
  if (summary !== undefined) return summaryMessage(summary);
  if (looksLikeSummary(sealed)) throw notSealedHere(sealedParam);
  return { type: 'opaque', wire: 'responses', json: item, param, mustReach: sealedParam };
}

/** A summary as the model that continues the conversation reads it. */
export function summaryMessage(summary: string): MessageItem {
  const text = `${summaryHeading}\n\n${summary}`;
  return { type: 'message', role: 'user', content: [{ type: 'text', text }], isSummary: true };
}

/** Whether an item asks for the conversation to be compacted. */
export function isCompactionTrigger(item: InputItem | undefined): boolean {
  return item?.type === 'opaque' && isCompactionTriggerJson(item.json);
}

export function isCompactionTriggerJson(item: Json): boolean {
  return item.type === compactionTriggerType;
}

export function isCompactionJson(item: Json): boolean {
  return item.type === 'compaction';
}
