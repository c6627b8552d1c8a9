import type {
  ContentPart,
  FunctionOutputItem,
  InputItem,
  ReasoningItem,
} from '../../../features/upstreams/neutral.ts';
import { type Json, objectOf, textOf } from '../../json.ts';
import { type AssistantTurn, argumentsObject, isBlank, type Turn, type UserTurn } from '../conversation.ts';
import { type InlineData, inlineFile, parseDataUrl, typeByName } from '../inline-data.ts';
import { geminiName } from './functions.ts';

export interface Content {
  role: 'user' | 'model';
  parts: Json[];
}

interface ContentsContext {
  /** Signatures of calls by call id. */
  signatures: ReadonlyMap<string, string>;
  isOwn: (item: ReasoningItem) => boolean;
  /** Whether the first call of a turn must be signed. */
  needsSignatures: boolean;
}

/**
 * Converts turns to contents. A function output has the function's name, taken from its call. Outputs are a content of their own:
 * models refuse other parts beside them. Source: vellum-ai/vellum-assistant#39495, run-llama/LlamaIndexTS#1634.
 */
export function contentsOf(turns: readonly Turn[], context: ContentsContext): Content[] {
  const names = new Map<string, string>();
  const contents: Content[] = [];
  for (const turn of turns) {
    if (turn.role === 'assistant') add(contents, 'model', modelParts(turn, { ...context, names }));
    else {
      add(contents, 'user', functionResponses(turn, names));
      add(contents, 'user', userParts(turn));
    }
  }
  return contents;
}

function add(contents: Content[], role: Content['role'], parts: Json[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  const isOfOutputs = last?.parts[0]?.functionResponse !== undefined;
  if (last?.role !== role || isOfOutputs) contents.push({ role, parts });
  // Not `push(...parts)`: there may be more parts than a function accepts arguments.
  else for (const part of parts) last.parts.push(part);
}

function modelParts(turn: AssistantTurn, context: ContentsContext & { names: Map<string, string> }): Json[] {
  const parts: Json[] = [];
  const signed = new SignedParts();
  for (const item of turn.items) {
    if (item.type === 'reasoning') {
      const { text, picture } = signaturesOf(item, context.isOwn);
      signed.sign('text', text);
      signed.sign('inlineData', picture);
    } else if (item.type === 'message') {
      const newParts = item.content.flatMap(contentParts);
      signed.add(newParts);
      for (const part of newParts) parts.push(part);
    } else {
      const name = geminiName(item.name);
      context.names.set(item.callId, name);
      const functionCall = { id: item.callId, name, args: argumentsObject(item.arguments) };
      parts.push({ functionCall, thoughtSignature: context.signatures.get(item.callId) });
    }
  }
  if (context.needsSignatures) signUnsigned(parts);
  return parts;
}

/** Reattaches signatures to a turn's text and pictures. A signature comes after its part or before all parts. */
class SignedParts {
  readonly #last: Record<string, Json | undefined> = {};
  /** Signatures before their part: chat clients put all thoughts of a turn before its text. */
  readonly #early: Record<string, string | undefined> = {};

  sign(kind: 'text' | 'inlineData', signature: string | undefined): void {
    if (signature === undefined) return;
    const part = this.#last[kind];
    if (part && part.thoughtSignature === undefined) part.thoughtSignature = signature;
    else this.#early[kind] = signature;
  }

  add(newParts: readonly Json[]): void {
    for (const kind of ['text', 'inlineData'] as const) {
      const last = newParts.findLast((part) => part[kind] !== undefined);
      if (!last) continue;
      if (this.#early[kind] !== undefined) last.thoughtSignature = this.#early[kind];
      this.#early[kind] = undefined;
      this.#last[kind] = last;
    }
  }
}

/** Adds the required signatures: on the first of parallel calls, and on every picture. */
function signUnsigned(parts: readonly Json[]): void {
  const firstCall = parts.find((part) => part.functionCall !== undefined);
  if (firstCall) firstCall.thoughtSignature ??= skipSignature;
  for (const part of parts) if (part.inlineData !== undefined) part.thoughtSignature ??= skipSignature;
}

function textParts(content: readonly ContentPart[]): Json[] {
  return content.flatMap((part) => {
    const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined;
    return text === undefined || isBlank(text) ? [] : [{ text }];
  });
}

function functionResponses({ results }: UserTurn, names: ReadonlyMap<string, string>): Json[] {
  return results.map((result) => functionResponse(result, names.get(result.callId) ?? ''));
}

/** What the outputs contain besides text, then the messages. */
function userParts({ results, messages }: UserTurn): Json[] {
  const attached = results.flatMap(({ output }) =>
    output.filter((part) => part.type !== 'text' && part.type !== 'refusal').flatMap(contentParts),
  );
  return [...attached, ...messages.flatMap(({ content }) => content.flatMap(contentParts))];
}

/** The response must be an object. Its text is not parsed: JSON Schema references in it would be refused. */
function functionResponse({ callId, output, isError }: FunctionOutputItem, name: string): Json {
  const text = output
    .map((part) => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : ''))
    .filter((each) => each !== '')
    .join('\n');
  return { functionResponse: { id: callId, name, response: isError ? { error: text } : { output: text } } };
}

function contentParts(part: ContentPart): Json[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return textParts([part]);
    case 'image': {
      const inline = parseDataUrl(part.url);
      return [inline ? inlinePart(inline) : filePart(part.url, typeByName(part.url) ?? 'image/jpeg')];
    }
    case 'audio':
      return [inlinePart({ mimeType: `audio/${part.format}`, data: part.data })];
    case 'file': {
      if (part.data !== undefined) return [inlinePart(inlineFile(part.data, part.filename))];
      const type = typeByName(part.filename) ?? typeByName(part.url) ?? 'application/pdf';
      return [filePart(part.url ?? '', type)];
    }
  }
}

function inlinePart({ mimeType, data }: InlineData): Json {
  return { inlineData: { mimeType, data } };
}

function filePart(fileUri: string, mimeType: string): Json {
  return { fileData: { fileUri, mimeType } };
}

/**
 * The thought signatures of one reasoning item, stored in its origin's payload. A signature belongs to one part and must
 * be sent back on it: on a function call, found by its call id, on the last text of a message, or on the last picture.
 */
export interface Signatures {
  calls?: Record<string, string>;
  text?: string;
  picture?: string;
}

/** Accepted in place of a signature for calls made elsewhere. Source: the Gemini API's page on thought signatures. */
const skipSignature = 'skip_thought_signature_validator';

/** The signatures in a reasoning item; none if it came from another model. */
function signaturesOf(item: ReasoningItem, isOwn: (item: ReasoningItem) => boolean): Signatures {
  const payload = isOwn(item) ? objectOf(item.origin?.payload) : undefined;
  const calls = Object.entries(objectOf(payload?.calls) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { calls: Object.fromEntries(calls), text: textOf(payload?.text), picture: textOf(payload?.picture) };
}

/** The signatures of all calls in a history, wherever the client placed the reasoning items. */
export function callSignatures(
  items: readonly InputItem[],
  isOwn: (item: ReasoningItem) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of items) {
    if (item.type !== 'reasoning') continue;
    for (const [callId, signature] of Object.entries(signaturesOf(item, isOwn).calls ?? {}))
      found.set(callId, signature);
  }
  return found;
}
