import { isObject, type Json } from '../../json.ts';

/**
 * The reasoning to send back to a provider, in the field in which it was received: `reasoning_content` (DeepSeek,
 * llama.cpp), `reasoning` (Groq, vLLM, Ollama), `reasoning_details` (OpenRouter, Vercel) or `thinking` (Mistral, as a
 * part of the content). Source: these providers' API references.
 */
export interface ReasoningPayload {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: Json[];
  thinking?: string;
  /** The `extra_content` of calls, by our id: Gemini's API refuses a call without its signature. */
  calls?: Record<string, Json>;
}

/** The reasoning in one delta or message. */
export interface ReasoningPiece {
  text: string;
  field: 'reasoning_content' | 'reasoning' | 'thinking' | undefined;
  details: Json[];
}

/** Reads the reasoning in a delta or message; undefined if there is none. */
export function reasoningOf(delta: Json): ReasoningPiece | undefined {
  const { reasoning_content, reasoning, reasoning_details } = delta;
  // Most deltas are text.
  if (!reasoning_content && !reasoning && !reasoning_details) return undefined;
  const details = Array.isArray(reasoning_details) ? reasoning_details.filter(isObject) : [];
  if (typeof reasoning_content === 'string' && reasoning_content !== '') {
    return { text: reasoning_content, field: 'reasoning_content', details };
  }
  if (typeof reasoning === 'string' && reasoning !== '')
    return { text: reasoning, field: 'reasoning', details };
  if (details.length > 0) return { text: details.map(detailText).join(''), field: undefined, details };
  return undefined;
}

function detailText({ text, summary }: Json): string {
  if (typeof text === 'string') return text;
  return typeof summary === 'string' ? summary : '';
}

/** Joins the pieces of one reasoning item into the payload to send back. */
export class ReasoningCollector {
  #payload: ReasoningPayload = {};

  add({ text, field, details }: ReasoningPiece): void {
    if (field !== undefined) this.#payload[field] = (this.#payload[field] ?? '') + text;
    if (details.length > 0) {
      this.#payload.reasoning_details ??= [];
      for (const detail of details) addDetail(this.#payload.reasoning_details, detail);
    }
  }

  /** The details include everything in the plain text. */
  payload(): ReasoningPayload {
    const { reasoning_details } = this.#payload;
    return reasoning_details === undefined ? this.#payload : { reasoning_details };
  }
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

/** Adds a payload to the assistant message of its turn; `thinking` is moved into the content later. */
export function replayReasoning(message: Json, payload: unknown): void {
  if (!isObject(payload)) return;
  const { reasoning_content, reasoning, reasoning_details, thinking } = payload;
  if (typeof reasoning_content === 'string') append(message, 'reasoning_content', reasoning_content);
  if (typeof reasoning === 'string') append(message, 'reasoning', reasoning);
  if (Array.isArray(reasoning_details)) {
    const previous = Array.isArray(message.reasoning_details) ? message.reasoning_details : [];
    message.reasoning_details = [...previous, ...reasoning_details];
  }
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
 * Mistral sends content as a list of parts that includes thoughts. Moves text and thoughts to the usual fields; undefined
 * if the content is not a list.
 */
export function flattenContent(delta: Json): { thinking: string } | undefined {
  if (!Array.isArray(delta.content)) return undefined;
  let text = '';
  let thinking = '';
  for (const part of delta.content) {
    if (typeof part === 'string') text += part;
    if (!isObject(part)) continue;
    if (part.type === 'thinking' || part.type === 'reasoning')
      thinking += thinkingText(part.thinking ?? part.text);
    else if (typeof part.text === 'string') text += part.text;
  }
  delta.content = text === '' ? null : text;
  if (thinking !== '') delta.reasoning_content = thinking;
  return { thinking };
}

function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
