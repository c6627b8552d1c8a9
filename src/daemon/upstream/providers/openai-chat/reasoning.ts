import { isObject, type Json, objectsOf } from '../../json.ts';

/**
 * The reasoning to send back to a provider, in the field in which it was received: `reasoning_content` (DeepSeek,
 * llama.cpp), `reasoning` (Groq, vLLM, Ollama), `reasoning_details` (OpenRouter, Vercel), `thinking_blocks` (LiteLLM, of Claude),
 * `reasoning_text` with the encrypted `reasoning_opaque` (Copilot) or `thinking` (Mistral, as a part of the content). Source: these
 * providers' API references; anomalyco/opencode#8900.
 */
export interface ReasoningPayload {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: Json[];
  thinking_blocks?: Json[];
  reasoning_text?: string;
  reasoning_opaque?: string;
  thinking?: string;
  /** Thoughts that were in the text, and the name of the tags around them. */
  tagged?: { tag: string; text: string };
  /** The members of calls with signatures, by our id: Gemini's API refuses a call without its signature. */
  calls?: Record<string, Json>;
  /** Those of the message. */
  message?: Json;
}

/** The reasoning in one delta or message. */
export interface ReasoningPiece {
  text: string;
  field: 'reasoning_content' | 'reasoning' | 'reasoning_text' | 'thinking' | undefined;
  details: Json[];
  blocks?: Json[];
  opaque?: string;
  /** The name of the tags around it in the text of the answer. */
  tag?: string;
}

/** Reads the reasoning in a delta or message; undefined if there is none. */
export function reasoningOf(delta: Json): ReasoningPiece | undefined {
  const { reasoning_content, reasoning, reasoning_details, thinking_blocks } = delta;
  const { reasoning_text, reasoning_opaque: opaque } = delta;
  // Most deltas are text.
  if (
    !reasoning_content &&
    !reasoning &&
    !reasoning_details &&
    !thinking_blocks &&
    !reasoning_text &&
    !opaque
  )
    return undefined;
  const piece = readReasoning(delta);
  if (typeof opaque === 'string' && opaque !== '')
    return { ...(piece ?? { text: '', field: undefined, details: [] }), opaque };
  const blocks = objectsOf(thinking_blocks);
  if (blocks.length === 0) return piece;
  // Without another field, the blocks are all there is of the text.
  return { ...(piece ?? { text: blocks.map(blockText).join(''), field: undefined, details: [] }), blocks };
}

function readReasoning({
  reasoning_content,
  reasoning,
  reasoning_details,
  reasoning_text,
}: Json): ReasoningPiece | undefined {
  const details = objectsOf(reasoning_details);
  if (typeof reasoning_text === 'string' && reasoning_text !== '')
    return { text: reasoning_text, field: 'reasoning_text', details };
  if (typeof reasoning_content === 'string' && reasoning_content !== '') {
    return { text: reasoning_content, field: 'reasoning_content', details };
  }
  if (typeof reasoning === 'string' && reasoning !== '')
    return { text: reasoning, field: 'reasoning', details };
  if (details.length > 0) return { text: details.map(detailText).join(''), field: undefined, details };
  return undefined;
}

function blockText({ thinking }: Json): string {
  return typeof thinking === 'string' ? thinking : '';
}

function detailText({ text, summary }: Json): string {
  if (typeof text === 'string') return text;
  return typeof summary === 'string' ? summary : '';
}

/** Joins the pieces of one reasoning item into the payload to send back. */
export class ReasoningCollector {
  #payload: ReasoningPayload = {};

  add({ text, field, details, blocks = [], opaque, tag }: ReasoningPiece): void {
    if (tag !== undefined) this.#payload.tagged = { tag, text: (this.#payload.tagged?.text ?? '') + text };
    if (opaque !== undefined) this.#payload.reasoning_opaque = opaque;
    if (field !== undefined) this.#payload[field] = (this.#payload[field] ?? '') + text;
    if (details.length > 0) {
      this.#payload.reasoning_details ??= [];
      for (const detail of details) addDetail(this.#payload.reasoning_details, detail);
    }
    if (blocks.length > 0) {
      this.#payload.thinking_blocks ??= [];
      for (const block of blocks) addBlock(this.#payload.thinking_blocks, block);
    }
  }

  /** The details include everything in the plain text. */
  payload(): ReasoningPayload {
    const { reasoning_details, thinking_blocks } = this.#payload;
    if (reasoning_details === undefined) return this.#payload;
    return thinking_blocks === undefined ? { reasoning_details } : { reasoning_details, thinking_blocks };
  }
}

/** A block comes in pieces, of which the last one has its signature. */
function addBlock(blocks: Json[], block: Json): void {
  const last = blocks.at(-1);
  if (last === undefined || last.type !== 'thinking' || block.type !== 'thinking' || last.signature) {
    blocks.push({ ...block });
    return;
  }
  last.thinking = blockText(last) + blockText(block);
  if (block.signature) last.signature = block.signature;
}

const signedMembers = ['extra_content', 'provider_specific_fields'] as const;

/**
 * The members of a call, or of a message, in which its provider signs it: `extra_content` of Google, `provider_specific_fields`
 * of LiteLLM. Undefined if there is no signature. Source: Google's page "Thought signatures"; BerriAI/litellm#16895.
 */
export function signedIn(value: Json): Json | undefined {
  let signed: Json | undefined;
  for (const name of signedMembers) {
    const member = value[name];
    if (isObject(member) && hasSignature(member)) signed = { ...signed, [name]: member };
  }
  return signed;
}

function hasSignature(member: Json): boolean {
  const { thought_signature: one, thought_signatures: several } = member;
  return (
    Boolean(one ?? several) || Object.values(member).some((inner) => isObject(inner) && hasSignature(inner))
  );
}

/** Pieces of one text are consecutive, and the last one has its signature. Encrypted pieces are whole. */
function addDetail(details: Json[], detail: Json): void {
  const last = details.at(-1);
  const isContinuation =
    last !== undefined &&
    last.type === detail.type &&
    last.index === detail.index &&
    (detail.type === 'reasoning.text' || detail.type === 'reasoning.summary') &&
    !last.signature;
  if (!isContinuation) {
    details.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const previous = last[name];
    const isText = name === 'text' || name === 'summary';
    if (isText && typeof previous === 'string' && typeof value === 'string') last[name] = previous + value;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}

/** Adds a payload to the assistant message of its turn; `thinking` and `tagged` are moved into the content later. */
export function replayReasoning(message: Json, payload: unknown): void {
  if (!isObject(payload)) return;
  const { reasoning_content, reasoning, reasoning_details, thinking_blocks, thinking } = payload;
  const { reasoning_text, reasoning_opaque, tagged } = payload;
  if (isObject(tagged)) append(message, 'tagged', `<${tagged.tag}>\n${tagged.text}\n</${tagged.tag}>\n\n`);
  if (typeof reasoning_text === 'string') append(message, 'reasoning_text', reasoning_text);
  if (typeof reasoning_opaque === 'string') message.reasoning_opaque = reasoning_opaque;
  if (typeof reasoning_content === 'string') append(message, 'reasoning_content', reasoning_content);
  if (typeof reasoning === 'string') append(message, 'reasoning', reasoning);
  if (Array.isArray(reasoning_details)) {
    const previous = Array.isArray(message.reasoning_details) ? message.reasoning_details : [];
    message.reasoning_details = [...previous, ...reasoning_details];
  }
  if (Array.isArray(thinking_blocks))
    message.thinking_blocks = [...objectsOf(message.thinking_blocks), ...thinking_blocks];
  if (typeof thinking === 'string') {
    const previous = Array.isArray(message.thinking) ? message.thinking : [];
    message.thinking = [...previous, { type: 'thinking', thinking: [{ type: 'text', text: thinking }] }];
  }
}

function append(message: Json, field: string, text: string): void {
  const previous = message[field];
  message[field] = typeof previous === 'string' ? previous + text : text;
}

/**
 * Mistral and Databricks send content as a list of parts that includes thoughts. Moves text and thoughts to the usual fields;
 * undefined if the content has no parts. Source: Mistral's API reference, databricks/appkit#559.
 */
export function flattenContent(delta: Json): ReasoningPiece | undefined {
  const { content } = delta;
  if (typeof content !== 'object' || content === null) return undefined;
  let text = '';
  let thinking = '';
  let field: 'thinking' | undefined;
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === 'string') text += part;
    if (!isObject(part)) continue;
    if (part.type === 'thinking' || part.type === 'reasoning') {
      thinking += thinkingText(part.thinking ?? part.text ?? part.summary);
      if (part.type === 'thinking') field = 'thinking';
    } else if (typeof part.text === 'string') text += part.text;
  }
  delta.content = text === '' ? null : text;
  if (thinking !== '') delta.reasoning_content = thinking;
  return { text: thinking, field, details: [] };
}

function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
