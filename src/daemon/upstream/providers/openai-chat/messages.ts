import type {
  ContentPart,
  FunctionCallItem,
  FunctionOutputItem,
  Inference,
  MessageItem,
  ReasoningItem,
} from '../../../features/upstreams/neutral.ts';
import { isObject, type Json } from '../../json.ts';
import { markedInstructions, markedMessage, markedPart, markedParts } from '../cache-marks.ts';
import {
  isBlank,
  markedOutput,
  type Round,
  readableArguments,
  roundsOf,
  withShownFiles,
} from '../conversation.ts';
import { fileUrl, imageUrl } from '../inline-data.ts';
import { unsupported } from '../provider-failures.ts';
import { callIdFor, type Quirks, reasoningFor } from './quirks.ts';
import { replayReasoning } from './reasoning.ts';
import { attachedText } from './tool-attachments.ts';

interface Assistant extends Json {
  role: 'assistant';
  content: string | Json[] | null;
  tool_calls?: Json[];
}

/** The recipient of the messages: reasoning is only sent back to the provider and model that it came from. */
export interface Receiver {
  provider: string;
  model: string;
  quirks: Quirks;
  /** Whether it is told what to cache, by `cache_control`. */
  isMarked?: boolean;
}

type Prompt = Pick<Inference, 'items' | 'instructions' | 'wire' | 'body'>;

/**
 * Converts items to chat messages. One assistant message has the thoughts, text and calls of one turn and is followed by
 * the outputs of its calls. Throws an UpstreamFailure of kind `caller` for what the format cannot express.
 */
export function chatMessages(inference: Prompt, receiver: Receiver): Json[] {
  const { items, instructions } = inference;
  const writer = new MessageWriter(receiver);
  const marked = receiver.isMarked ? markedInstructions(inference) : undefined;
  const system = marked?.map(({ text, ...mark }) =>
    markedPart({ type: 'text', text }, mark, 'cache_control'),
  );
  if (instructions) writer.messages.push({ role: 'system', content: system ?? instructions });
  for (const round of roundsOf(withShownFiles(items))) {
    for (const item of [...round.items, ...round.results, ...round.messages]) writer.add(item);
  }
  writer.close();
  return writer.messages;
}

class MessageWriter {
  readonly messages: Json[] = [];
  readonly #receiver: Receiver;
  #assistant: Assistant | undefined;
  /** Images of tool outputs, sent after all tool messages: those can only contain text and must be consecutive. */
  #toolImages: Json[] = [];
  /** The members of calls that follow in which they are signed, with our id of each. */
  #extras: [callId: string, members: unknown][] = [];

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  add(item: Round['items'][number] | FunctionOutputItem): void {
    if (item.type !== 'function_call_output') this.#addToolImages();
    if (item.type === 'message') this.#addMessage(item);
    else if (item.type === 'function_call') this.#addCall(item);
    else if (item.type === 'function_call_output') this.#addOutput(item);
    else this.#addReasoning(item);
  }

  close(): void {
    this.#endTurn();
    this.#addToolImages();
  }

  #addMessage(item: MessageItem): void {
    if (item.role === 'assistant') {
      const text = textOf(item.content);
      // Servers with models of Anthropic refuse blank text.
      if (!isBlank(text)) this.#addText(text);
      return;
    }
    this.#endTurn();
    const { quirks, isMarked } = this.#receiver;
    const role = item.role === 'developer' && !quirks.supportsDeveloperRole ? 'system' : item.role;
    const hasMarks = isMarked && [item, ...item.content].some(({ cacheControl }) => cacheControl);
    const isText = item.content.every((part) => part.type === 'text' || part.type === 'refusal');
    if (isText && !hasMarks) return void this.messages.push({ role, content: textOf(item.content) });
    const content = markedParts(item.content, {
      item,
      form: hasMarks ? 'cache_control' : undefined,
      write: (part) => chatPart(part, quirks),
    });
    this.messages.push({ role, content });
  }

  #addText(text: string): void {
    const last = this.#assistant;
    // A second assistant message is not allowed between calls and their outputs, so the text is added to the first.
    if (last?.content && !last.tool_calls) this.#endTurn();
    const assistant = this.#currentTurn();
    assistant.content = assistant.content ? `${assistant.content}\n\n${text}` : text;
  }

  #addCall(item: FunctionCallItem): void {
    const assistant = this.#currentTurn();
    assistant.tool_calls ??= [];
    const extra = this.#takeExtra(item.callId);
    assistant.tool_calls.push({
      id: this.#callId(item.callId),
      type: 'function',
      function: { name: item.name, arguments: readableArguments(item.arguments) },
      ...(isObject(extra) && extra),
    });
  }

  #addOutput(item: FunctionOutputItem): void {
    this.#endTurn();
    const { quirks, isMarked } = this.#receiver;
    const output = markedOutput(item);
    const attachments = output.filter((part) => part.type !== 'text' && part.type !== 'refusal');
    const text = textOf(output) || (attachments.length > 0 ? attachedText : '');
    const mark = isMarked && [item, ...output].find(({ cacheControl }) => cacheControl);
    const message = { role: 'tool', tool_call_id: this.#callId(item.callId), content: text };
    this.messages.push(mark ? markedMessage(message, mark) : message);
    for (const part of attachments) this.#toolImages.push(chatPart(part, quirks));
  }

  #addReasoning(item: ReasoningItem): void {
    const { provider, model, quirks } = this.#receiver;
    if (item.origin?.provider !== provider || item.origin.model !== model) return;
    const { payload } = item.origin;
    const turn = this.#currentTurn();
    if (quirks.replaysReasoning) replayReasoning(turn, payload);
    if (!isObject(payload)) return;
    if (isObject(payload.message)) Object.assign(turn, payload.message);
    if (isObject(payload.calls)) this.#extras.push(...Object.entries(payload.calls));
  }

  /** A client may have renamed a call, which then is the next one. */
  #takeExtra(callId: string): unknown {
    if (this.#extras.length === 0) return undefined;
    const at = this.#extras.findIndex(([id]) => id === callId);
    return this.#extras.splice(Math.max(0, at), 1)[0]?.[1];
  }

  /** Some calls were signed after they had started. */
  #addLateExtras(calls: readonly Json[]): void {
    for (const [id, extra] of this.#extras.splice(0)) {
      const call = calls.find((each) => each.id === this.#callId(id));
      if (call && isObject(extra)) Object.assign(call, extra);
    }
  }

  #currentTurn(): Assistant {
    this.#assistant ??= { role: 'assistant', content: null };
    return this.#assistant;
  }

  #endTurn(): void {
    const assistant = this.#assistant;
    if (assistant === undefined) return;
    this.#assistant = undefined;
    if (this.#extras.length > 0) this.#addLateExtras(assistant.tool_calls ?? []);
    const { thinking, tagged, ...message } = assistant;
    if (typeof tagged === 'string' && (message.content !== null || message.tool_calls))
      message.content = `${tagged}${message.content ?? ''}`;
    if (Array.isArray(thinking)) {
      const text = message.content === null ? [] : [{ type: 'text', text: message.content }];
      message.content = [...thinking, ...text];
    }
    const { quirks } = this.#receiver;
    const needed = message.reasoning_content || reasoningFor(message, quirks);
    if (needed !== undefined) message.reasoning_content = needed;
    // Thoughts alone are not a message.
    if (message.content !== null || message.tool_calls) this.messages.push(message);
  }

  #addToolImages(): void {
    if (this.#toolImages.length === 0) return;
    this.messages.push({ role: 'user', content: this.#toolImages });
    this.#toolImages = [];
  }

  #callId(id: string): string {
    return callIdFor(id, this.#receiver.quirks);
  }
}

function textOf(parts: ContentPart[]): string {
  const texts: string[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text);
    else if (part.type === 'refusal') texts.push(part.refusal);
  }
  return texts.join('\n\n');
}

function chatPart(part: ContentPart, quirks: Quirks): Json {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'refusal') return { type: 'text', text: part.refusal };
  if (part.type === 'image') {
    const url = imageUrl(part.url);
    const image_url = part.detail === undefined ? { url } : { url, detail: part.detail };
    return { type: 'image_url', image_url };
  }
  if (part.type === 'audio')
    return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
  const data = part.data ?? (quirks.supportsFileUrls ? part.url : undefined);
  if (data === undefined) {
    throw unsupported('The provider of this model accepts files as data, not as a URL.', 'input', part);
  }
  return {
    type: 'file',
    file: { filename: part.filename ?? 'file', file_data: fileUrl(data, part.filename) },
  };
}
