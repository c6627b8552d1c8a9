import type {
  ContentPart,
  FunctionCallItem,
  FunctionOutputItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../features/inference/neutral.ts';
import type { Json } from '../../json.ts';
import { shortCallId } from '../call-ids.ts';
import { type Round, roundsOf } from '../conversation.ts';
import { inlineFile } from '../inline-data.ts';
import { unsupported } from '../sanitize-provider-message.ts';
import type { Flavour } from './flavour.ts';
import { replayReasoning } from './reasoning.ts';

interface Assistant extends Json {
  role: 'assistant';
  content: string | Json[] | null;
  tool_calls?: Json[];
}

/** Who gets the messages: reasoning goes back to the provider and model that thought it, and to nobody else. */
export interface Receiver {
  provider: string;
  model: string;
  flavour: Flavour;
}

/**
 * Chat messages from neutral items. One assistant message holds the thoughts, text and calls of one turn, and the
 * outputs of its calls follow it at once. Throws an UpstreamFailure of kind `caller` for what the format cannot say.
 */
export function chatMessages(
  items: InputItem[],
  instructions: string | undefined,
  receiver: Receiver,
): Json[] {
  const writer = new MessageWriter(receiver);
  if (instructions) writer.messages.push({ role: 'system', content: instructions });
  for (const round of roundsOf(items)) {
    for (const item of [...round.items, ...round.results, ...round.messages]) writer.add(item);
  }
  writer.close();
  return writer.messages;
}

class MessageWriter {
  readonly messages: Json[] = [];
  readonly #receiver: Receiver;
  #assistant: Assistant | undefined;
  /** Images of tool outputs: a tool's message holds text only, and nothing may stand between the tools' messages. */
  #fromTools: Json[] = [];

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  add(item: Round['items'][number] | FunctionOutputItem): void {
    if (item.type !== 'function_call_output') this.#showToolImages();
    if (item.type === 'message') this.#message(item);
    else if (item.type === 'function_call') this.#call(item);
    else if (item.type === 'function_call_output') this.#output(item);
    else this.#reasoning(item);
  }

  close(): void {
    this.#endTurn();
    this.#showToolImages();
  }

  #message(item: MessageItem): void {
    if (item.role === 'assistant') {
      this.#say(textOf(item.content));
      return;
    }
    this.#endTurn();
    const { flavour } = this.#receiver;
    const role = item.role === 'developer' && !flavour.knowsDeveloper ? 'system' : item.role;
    const isText = item.content.every((part) => part.type === 'text' || part.type === 'refusal');
    const content = isText ? textOf(item.content) : item.content.map((part) => chatPart(part, flavour));
    this.messages.push({ role, content });
  }

  #say(text: string): void {
    const last = this.#assistant;
    // After calls there can be no second assistant message before their outputs, so the text joins the first.
    if (last?.content && !last.tool_calls) this.#endTurn();
    const assistant = this.#turn();
    assistant.content = assistant.content ? `${assistant.content}\n\n${text}` : text;
  }

  #call(item: FunctionCallItem): void {
    const assistant = this.#turn();
    assistant.tool_calls ??= [];
    assistant.tool_calls.push({
      id: this.#callId(item.callId),
      type: 'function',
      function: { name: item.name, arguments: item.arguments },
    });
  }

  #output(item: FunctionOutputItem): void {
    this.#endTurn();
    const { flavour } = this.#receiver;
    const shown = item.output.filter((part) => part.type !== 'text' && part.type !== 'refusal');
    const text = textOf(item.output) || (shown.length > 0 ? 'See the next message.' : '');
    this.messages.push({ role: 'tool', tool_call_id: this.#callId(item.callId), content: text });
    for (const part of shown) this.#fromTools.push(chatPart(part, flavour));
  }

  #reasoning(item: ReasoningItem): void {
    const { provider, model } = this.#receiver;
    if (item.origin?.provider !== provider || item.origin.model !== model) return;
    replayReasoning(this.#turn(), item.origin.payload);
  }

  #turn(): Assistant {
    this.#assistant ??= { role: 'assistant', content: null };
    return this.#assistant;
  }

  #endTurn(): void {
    const assistant = this.#assistant;
    if (assistant === undefined) return;
    this.#assistant = undefined;
    const { thinking, ...message } = assistant;
    if (Array.isArray(thinking)) {
      const text = message.content === null ? [] : [{ type: 'text', text: message.content }];
      message.content = [...thinking, ...text];
    }
    if (this.#receiver.flavour.wantsReasoning) message.reasoning_content ??= '';
    // Thoughts alone are no message.
    if (message.content !== null || message.tool_calls) this.messages.push(message);
  }

  #showToolImages(): void {
    if (this.#fromTools.length === 0) return;
    this.messages.push({ role: 'user', content: this.#fromTools });
    this.#fromTools = [];
  }

  #callId(id: string): string {
    return this.#receiver.flavour.hasShortCallIds ? shortCallId(id) : id;
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

function chatPart(part: ContentPart, flavour: Flavour): Json {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'refusal') return { type: 'text', text: part.refusal };
  if (part.type === 'image') {
    const image_url = part.detail === undefined ? { url: part.url } : { url: part.url, detail: part.detail };
    return { type: 'image_url', image_url };
  }
  if (part.type === 'audio')
    return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
  const data = part.data ?? (flavour.takesFileUrls ? part.url : undefined);
  if (data === undefined) {
    throw unsupported('The provider of this model takes files as data, not as a URL.', 'input');
  }
  return { type: 'file', file: { filename: part.filename ?? 'file', file_data: asUrl(data, part.filename) } };
}

function asUrl(data: string, filename: string | undefined): string {
  if (/^(data|https?):/i.test(data)) return data;
  const { mimeType, data: base64 } = inlineFile(data, filename);
  return `data:${mimeType};base64,${base64}`;
}
