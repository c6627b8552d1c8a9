import type {
  ContentPart,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../features/inference/neutral.ts';
import { isObject } from '../../answer-bodies.ts';
import type { Json } from '../json-value.ts';

/** Who gets the items: reasoning goes back to the provider and model that thought it, and to nobody else. */
export interface Receiver {
  provider: string;
  model: string;
}

/**
 * Input items in the Responses format. Ids are left out: they name things of ours, and a provider that stores nothing
 * would look them up in vain. Source: the Open Responses specification, item parameters.
 */
export function responsesInput(items: InputItem[], receiver: Receiver): Json[] {
  return items.flatMap((item) => inputItem(item, receiver));
}

function inputItem(item: InputItem, receiver: Receiver): Json[] {
  switch (item.type) {
    case 'message':
      return [message(item)];
    case 'function_call':
      return [{ type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }];
    case 'function_call_output':
      return [{ type: 'function_call_output', call_id: item.callId, output: toolOutput(item.output) }];
    case 'reasoning':
      return reasoning(item, receiver);
    case 'opaque':
      return [item.json];
  }
}

function message({ role, content, phase }: MessageItem): Json {
  const told = { type: 'message', role, ...(phase !== undefined && { phase }) };
  if (content.length === 0) return { ...told, content: '' };
  const parts = content.map((part) => (role === 'assistant' ? outputPart(part) : inputPart(part)));
  return { ...told, content: parts };
}

/** Text alone is sent as text: not every server takes parts here. */
function toolOutput(output: ContentPart[]): string | Json[] {
  if (output.length === 0) return '';
  const [first] = output;
  return output.length === 1 && first?.type === 'text' ? first.text : output.map(inputPart);
}

function outputPart(part: ContentPart): Json {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.refusal };
  if (part.type === 'text') return { type: 'output_text', text: part.text, annotations: [] };
  return inputPart(part);
}

function inputPart(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'input_text', text: part.refusal };
    case 'image':
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file':
      return part.data === undefined
        ? { type: 'input_file', file_url: part.url }
        : { type: 'input_file', filename: part.filename, file_data: part.data };
  }
}

function reasoning({ origin, summary }: ReasoningItem, { provider, model }: Receiver): Json[] {
  if (origin?.provider !== provider || origin.model !== model || !isObject(origin.payload)) return [];
  const { encrypted_content, id } = origin.payload;
  if (typeof encrypted_content !== 'string') return [];
  return [
    {
      type: 'reasoning',
      ...(typeof id === 'string' ? { id } : undefined),
      summary: summary.map((text) => ({ type: 'summary_text', text })),
      encrypted_content,
    },
  ];
}
