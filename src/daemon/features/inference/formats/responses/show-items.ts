import type { Json } from '../../fault.ts';
import type { ContentPart, InputItem, ReasoningOrigin } from '../../neutral.ts';

/** Neutral items in the Responses format, in which threads keep them. `seal` hides what a provider wants back. */
export function showInputItems(
  items: readonly InputItem[],
  seal: (origin: ReasoningOrigin) => string,
): Json[] {
  return items.map((item) => showInputItem(item, seal));
}

function showInputItem(item: InputItem, seal: (origin: ReasoningOrigin) => string): Json {
  switch (item.type) {
    case 'message':
      return {
        type: 'message',
        role: item.role,
        content: item.content.map((part) => showPart(part, item.role)),
      };
    case 'function_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments };
    case 'function_call_output':
      return {
        type: 'function_call_output',
        call_id: item.callId,
        output: item.output.map((part) => showPart(part, 'user')),
      };
    case 'reasoning':
      return {
        type: 'reasoning',
        summary: item.summary.map((text) => ({ type: 'summary_text', text })),
        ...(item.origin && { encrypted_content: seal(item.origin) }),
      };
    case 'opaque':
      return item.json;
  }
}

function showPart(part: ContentPart, role: string): Json {
  return part.type === 'text' && role === 'assistant'
    ? { type: 'output_text', text: part.text, annotations: [] }
    : showInputPart(part);
}

/** A part of a message in the Responses format. */
export function showInputPart(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image':
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file': {
      const { filename, data, url } = part;
      return {
        type: 'input_file',
        ...(filename !== undefined && { filename }),
        ...(data !== undefined && { file_data: data }),
        ...(url !== undefined && { file_url: url }),
      };
    }
  }
}
