import type { Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseEvent } from '../../../../../shared/http/sse.ts';
import type { Output, OutputItem } from '../../../calls/index.ts';
import type { InferenceEvent } from '../../../upstreams/neutral.ts';
import { showItem, showPart } from './render.ts';

/** Writes events with consecutive sequence numbers. */
export class EventWriter {
  #sequence: number;

  constructor({ first = 0 } = {}) {
    this.#sequence = first;
  }

  next(): number {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return sequence;
  }

  write(type: string, members: Json): string {
    return sseEvent(JSON.stringify({ type, sequence_number: this.next(), ...members }), type);
  }
}

/**
 * Renders the events of output items. A part opens with its first delta and closes when the next part starts or the item
 * ends. Every `.done` repeats the complete content, as some clients read nothing else.
 */
export class ItemEvents {
  readonly #output: Output;
  readonly #writer: EventWriter;
  readonly #sealed: boolean;
  /** How many parts of each item were opened; the last one stays open until the item is done. */
  readonly #opened: number[] = [];
  /** The item that ended last. Whether it is complete shows in the next event, so its end is rendered then. */
  #ended: number | undefined;

  constructor(output: Output, writer: EventWriter, options: { sealed: boolean }) {
    this.#output = output;
    this.#writer = writer;
    this.#sealed = options.sealed;
  }

  render(events: readonly InferenceEvent[]): string {
    let text = '';
    for (const event of events) {
      const isOfItem = isItemEvent(event);
      if (isOfItem) text += this.endLast('completed');
      this.#output.apply(event);
      if (isOfItem) text += this.#renderOne(event);
    }
    return text;
  }

  /** Renders the end of the item that ended last, if it is still pending. */
  endLast(status: 'completed' | 'incomplete'): string {
    const index = this.#ended;
    this.#ended = undefined;
    const item = index === undefined ? undefined : this.#output.items[index];
    return item && index !== undefined ? this.#endItem(item, index, status) : '';
  }

  /** Ends all open items; the last item of an answer that was cut is incomplete. */
  close({ isCut }: { isCut: boolean }): string {
    const { items } = this.#output;
    const isLast = this.#ended === items.length - 1;
    let text = this.endLast(isCut && isLast ? 'incomplete' : 'completed');
    items.forEach((item, index) => {
      if (item.done) return;
      text += this.#endItem(item, index, isCut ? 'incomplete' : 'completed');
      item.done = !isCut;
    });
    return text;
  }

  /** Continues after a provider's own frames, which have opened every part. */
  resume(): void {
    this.#output.items.forEach((item, index) => {
      this.#opened[index] = partsOf(item);
    });
  }

  #renderOne(event: ItemEvent): string {
    const item = this.#output.items[event.index];
    if (!item || !belongsTo(event, item)) return '';
    const { index } = event;
    switch (event.type) {
      case 'item-started': {
        const shown = showItem(item, { sealed: false, status: 'in_progress' });
        return this.#writer.write('response.output_item.added', { output_index: index, item: shown });
      }
      case 'text': {
        const part = this.#openParts(item, index);
        const logprobs = event.logprobs ? JSON.stringify(event.logprobs) : '[]';
        const position = `,"content_index":${this.#part(index)}`;
        const rest = `,"logprobs":${logprobs}`;
        return (
          part + this.#delta('response.output_text.delta', item, index, { position, text: event.delta, rest })
        );
      }
      case 'refusal': {
        const part = this.#openParts(item, index);
        const position = `,"content_index":${this.#part(index)}`;
        return part + this.#delta('response.refusal.delta', item, index, { position, text: event.delta });
      }
      case 'reasoning': {
        const part = this.#openParts(item, index);
        const position = `,"summary_index":${event.part}`;
        return (
          part +
          this.#delta('response.reasoning_summary_text.delta', item, index, { position, text: event.delta })
        );
      }
      case 'arguments':
        // The call of a tool of the format is shown when it is complete.
        if (isBuiltin(item)) return '';
        return this.#delta(`${argumentsEvent(item)}.delta`, item, index, { position: '', text: event.delta });
      case 'annotation':
        return this.#annotation(item, index, event.annotation);
      case 'item-done':
        this.#ended = index;
        return '';
    }
  }

  /** Index of the item's open part. */
  #part(index: number): number {
    return (this.#opened[index] ?? 1) - 1;
  }

  #openParts(item: OutputItem, index: number): string {
    const count = partsOf(item);
    let text = '';
    while ((this.#opened[index] ?? 0) < count) {
      text += this.#closePart(item, index);
      this.#opened[index] = (this.#opened[index] ?? 0) + 1;
      text += this.#partEvent(item, index, 'added');
    }
    return text;
  }

  #partEvent(item: OutputItem, index: number, what: 'added' | 'done'): string {
    const part = this.#part(index);
    const position = { item_id: item.id, output_index: index };
    if (item.kind === 'reasoning') {
      const shown = { type: 'summary_text', text: what === 'added' ? '' : (item.parts[part] ?? '') };
      return this.#writer.write(`response.reasoning_summary_part.${what}`, {
        ...position,
        summary_index: part,
        part: shown,
      });
    }
    const content = item.kind === 'message' ? item.parts[part] : undefined;
    if (!content) return '';
    const shown = what === 'done' ? showPart(content) : emptyPart(content.type);
    return this.#writer.write(`response.content_part.${what}`, {
      ...position,
      content_index: part,
      part: shown,
    });
  }

  /** Ends the open part, if any. */
  #closePart(item: OutputItem, index: number): string {
    const part = this.#part(index);
    if ((this.#opened[index] ?? 0) === 0) return '';
    const at = { item_id: item.id, output_index: index };
    let text = '';
    if (item.kind === 'reasoning') {
      const members = { ...at, summary_index: part, text: item.parts[part] ?? '' };
      text = this.#writer.write('response.reasoning_summary_text.done', members);
    } else if (item.kind === 'message') {
      const position = { ...at, content_index: part };
      const content = item.parts[part];
      if (content?.type === 'output_text') {
        const members = { ...position, text: content.text, logprobs: content.logprobs };
        text = this.#writer.write('response.output_text.done', members);
      } else if (content)
        text = this.#writer.write('response.refusal.done', { ...position, refusal: content.refusal });
    }
    return text + this.#partEvent(item, index, 'done');
  }

  #endItem(item: OutputItem, index: number, status: 'completed' | 'incomplete'): string {
    let text = this.#openParts(item, index) + this.#closePart(item, index);
    if (item.kind === 'function_call' && !isBuiltin(item)) {
      const at = { item_id: item.id, output_index: index };
      const members = item.custom
        ? { ...at, input: item.arguments }
        : { ...at, name: item.name, arguments: item.arguments };
      text += this.#writer.write(`${argumentsEvent(item)}.done`, members);
    }
    const shown = showItem(item, { sealed: this.#sealed, status });
    return text + this.#writer.write('response.output_item.done', { output_index: index, item: shown });
  }

  #annotation(item: OutputItem, index: number, annotation: Json): string {
    const part = this.#part(index);
    const content = item.kind === 'message' ? item.parts[part] : undefined;
    if (content?.type !== 'output_text') return '';
    return this.#writer.write('response.output_text.annotation.added', {
      item_id: item.id,
      output_index: index,
      content_index: part,
      annotation_index: content.annotations.length - 1,
      annotation,
    });
  }

  /** Concatenated for speed: there are thousands of deltas. `position` and `rest` are JSON members. */
  #delta(
    type: string,
    item: OutputItem,
    index: number,
    { position, text, rest = '' }: { position: string; text: string; rest?: string },
  ): string {
    const id = JSON.stringify(item.id);
    const head = `{"type":"${type}","sequence_number":${this.#writer.next()},"item_id":${id},"output_index":${index}`;
    return sseEvent(`${head}${position},"delta":${JSON.stringify(text)}${rest}}`, type);
  }
}

function isBuiltin(item: OutputItem): boolean {
  return item.kind === 'function_call' && item.builtin !== undefined;
}

function argumentsEvent(item: OutputItem): string {
  const isCustom = item.kind === 'function_call' && item.custom;
  return isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
}

type ItemEvent = Exclude<InferenceEvent, { type: 'usage' | 'finished' | 'prompt-counted' }>;

function isItemEvent(event: InferenceEvent): event is ItemEvent {
  return event.type !== 'usage' && event.type !== 'finished' && event.type !== 'prompt-counted';
}

/** Whether an item can have this event: a provider may send text in a call. */
function belongsTo({ type }: ItemEvent, { kind }: OutputItem): boolean {
  if (type === 'text' || type === 'refusal' || type === 'annotation') return kind === 'message';
  if (type === 'reasoning') return kind === 'reasoning';
  return type !== 'arguments' || kind === 'function_call';
}

function partsOf(item: OutputItem): number {
  return item.kind === 'message' || item.kind === 'reasoning' ? item.parts.length : 0;
}

function emptyPart(type: 'output_text' | 'refusal'): Json {
  return type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [], logprobs: [] };
}
