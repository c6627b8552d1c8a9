import { pictureIn } from '../../../../shared/pictures.ts';
import type { ContentPart, InputItem } from '../neutral.ts';

/** A conversation as text, for a model that is to write about it: one section an item, in order. */
export function transcriptOf(items: readonly InputItem[], instructions: string | undefined): string {
  const names = new Map<string, string>();
  const sections = instructions ? [section('instructions to the assistant', instructions)] : [];
  for (const item of items) sections.push(...sectionOf(item, names));
  return `The transcript begins.\n\n${sections.join('\n\n')}\n\nThe transcript ends. Write the notes.`;
}

function sectionOf(item: InputItem, names: Map<string, string>): string[] {
  switch (item.type) {
    case 'message':
      return [section(item.isSummary ? 'earlier notes' : item.role, textOf(item.content))];
    case 'function_call':
      names.set(item.callId, item.name);
      return [section(`the assistant calls ${item.name}`, item.arguments)];
    case 'function_call_output':
      return [section(`result of ${names.get(item.callId) ?? 'a tool'}`, textOf(item.output))];
    case 'reasoning':
      return item.summary.length > 0 ? [section('the assistant thinks', item.summary.join('\n'))] : [];
    case 'opaque':
      if (pictureIn(item.json)) return [section('the assistant draws', '(an image)')];
      return [section(String(item.json.type), JSON.stringify(item.json))];
  }
}

function section(title: string, text: string): string {
  return `--- ${title} ---\n${text}`;
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('\n');
}

/** Media is named and not sent: the summary is of words. */
function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'refusal':
      return part.refusal;
    case 'image':
      return part.url.startsWith('data:') ? '(an image)' : `(an image: ${part.url})`;
    case 'file':
      return `(a file: ${part.filename ?? part.url ?? 'without a name'})`;
    case 'audio':
      return '(a recording)';
  }
}
