import { isObject, type Json } from '../../json.ts';

/**
 * What a provider wants to see again of its reasoning, under the field in which it told it: `reasoning_content`
 * (DeepSeek, llama.cpp), `reasoning` (Groq, vLLM, Ollama), `reasoning_details` (OpenRouter, Vercel) or `thinking`
 * (Mistral, as a part of the content).
 */
export interface ReasoningPayload {
  reasoning_content?: string;
  reasoning?: string;
  reasoning_details?: Json[];
  thinking?: string;
}

/** What one delta or message told of the model's thoughts. */
export interface ReasoningTold {
  text: string;
  field: 'reasoning_content' | 'reasoning' | 'thinking' | undefined;
  details: Json[];
}

/** Reads the thoughts off a delta or a message; undefined when it holds none. */
export function reasoningIn(delta: Json): ReasoningTold | undefined {
  const details = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isObject) : [];
  const { reasoning_content, reasoning } = delta;
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

/** Gathers the pieces of one stretch of thoughts into what is to be sent back. */
export class ReasoningCollector {
  #payload: ReasoningPayload = {};

  add({ text, field, details }: ReasoningTold): void {
    if (field !== undefined) this.#payload[field] = (this.#payload[field] ?? '') + text;
    if (details.length > 0) {
      this.#payload.reasoning_details ??= [];
      for (const detail of details) addDetail(this.#payload.reasoning_details, detail);
    }
  }

  /** The details tell everything that the plain text tells, and more. */
  payload(): ReasoningPayload {
    const { reasoning_details } = this.#payload;
    return reasoning_details === undefined ? this.#payload : { reasoning_details };
  }
}

/** Pieces of one text follow each other; its signature comes with the last. Sealed pieces are whole. */
function addDetail(details: Json[], detail: Json): void {
  const last = details.at(-1);
  const isMore =
    last !== undefined &&
    last.type === detail.type &&
    last.index === detail.index &&
    (detail.type === 'reasoning.text' || detail.type === 'reasoning.summary') &&
    !last.signature;
  if (!isMore) {
    details.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const before = last[name];
    const isText = name === 'text' || name === 'summary';
    if (isText && typeof before === 'string' && typeof value === 'string') last[name] = before + value;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}

/** Puts a payload back into the assistant's message of its turn; `thinking` becomes parts of the content later. */
export function replayReasoning(message: Json, payload: unknown): void {
  if (!isObject(payload)) return;
  const { reasoning_content, reasoning, reasoning_details, thinking } = payload;
  if (typeof reasoning_content === 'string') append(message, 'reasoning_content', reasoning_content);
  if (typeof reasoning === 'string') append(message, 'reasoning', reasoning);
  if (Array.isArray(reasoning_details)) {
    const before = Array.isArray(message.reasoning_details) ? message.reasoning_details : [];
    message.reasoning_details = [...before, ...reasoning_details];
  }
  if (typeof thinking === 'string') {
    const before = Array.isArray(message.thinking) ? message.thinking : [];
    message.thinking = [...before, { type: 'thinking', thinking: [{ type: 'text', text: thinking }] }];
  }
}

function append(message: Json, field: string, text: string): void {
  const before = message[field];
  message[field] = typeof before === 'string' ? before + text : text;
}

/**
 * Mistral tells content as a list of parts, thoughts among them. Puts text and thoughts into the fields where everybody
 * else has them; tells whether there was anything to do.
 */
export function flattenContent(delta: Json): { thinking: string } | undefined {
  if (!Array.isArray(delta.content)) return undefined;
  let text = '';
  let thinking = '';
  for (const part of delta.content) {
    if (!isObject(part)) continue;
    if (part.type === 'text' && typeof part.text === 'string') text += part.text;
    else if (part.type === 'thinking') thinking += thinkingText(part.thinking);
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
