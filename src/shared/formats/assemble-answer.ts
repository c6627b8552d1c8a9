import type { JsonObject as Json } from '../json/json-object.ts';

/**
 * Assembles the whole answer from the events of a stream in any of the three formats, as the same call without `stream` would
 * return it. A stream that ends early gives what there was until then.
 */
export class AnswerAssembler {
  #chat: ChatAnswer | undefined;
  #message: MessageAnswer | undefined;
  #response: ResponseAnswer | undefined;
  #error: unknown;

  /** Takes whole events, and returns how many characters of the answer's text they have. */
  push(events: string): number {
    let characters = 0;
    for (const line of events.split('\n')) {
      if (!line.startsWith('data:')) continue;
      const event = parsed(line.slice('data:'.length));
      if (event !== undefined) characters += this.#take(event);
    }
    return characters;
  }

  /** Undefined if there was no event of an answer. */
  answer(): Json | undefined {
    const whole = this.#chat?.answer() ?? this.#message?.answer() ?? this.#response?.answer();
    if (this.#error === undefined) return whole;
    return { ...whole, error: this.#error };
  }

  #take(event: Json): number {
    const { type, error } = event;
    if (Array.isArray(event.choices)) {
      this.#chat ??= new ChatAnswer();
      return this.#chat.take(event);
    }
    if (typeof type !== 'string' || type === 'error') {
      this.#error = error ?? event;
      return 0;
    }
    if (type.startsWith('response.')) {
      this.#response ??= new ResponseAnswer();
      return this.#response.take(type, event);
    }
    if (!/^(message|content_block)_/.test(type)) return 0;
    this.#message ??= new MessageAnswer();
    return this.#message.take(type, event);
  }
}

interface ChatChoice {
  finish: unknown;
  message: Json;
  calls: Json[];
}

class ChatAnswer {
  #head: Json = {};
  #usage: unknown;
  readonly #choices: ChatChoice[] = [];

  take({ choices, usage, ...head }: Json): number {
    this.#head = { ...head, ...this.#head };
    this.#usage = usage ?? this.#usage;
    let characters = 0;
    for (const { index, delta, finish_reason: finish } of objects(choices)) {
      const at = position(index);
      const choice = this.#choices[at] ?? {
        finish: null,
        message: { role: 'assistant', content: null },
        calls: [],
      };
      this.#choices[at] = choice;
      choice.finish = finish ?? choice.finish;
      characters += addDelta(choice, object(delta));
    }
    return characters;
  }

  answer(): Json {
    const choices = this.#choices.flatMap((choice, index) =>
      choice === undefined
        ? []
        : [
            {
              index,
              message: {
                ...choice.message,
                ...(choice.calls.length > 0 && { tool_calls: choice.calls.filter(Boolean) }),
              },
              finish_reason: choice.finish,
            },
          ],
    );
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return { ...this.#head, object: 'chat.completion', choices, ...usage };
  }
}

function addDelta({ message, calls }: ChatChoice, { tool_calls: pieces, role, ...texts }: Json): number {
  if (typeof role === 'string') message.role = role;
  for (const [name, value] of Object.entries(texts)) {
    if (typeof value === 'string') message[name] = text(message[name]) + value;
    else if (value !== null) message[name] = value;
  }
  for (const { index, function: called, ...rest } of objects(pieces)) {
    const call = calls[position(index)] ?? {};
    calls[position(index)] = call;
    const { name, arguments: more, ...others } = object(called);
    const before = object(call.function);
    Object.assign(call, rest, {
      function: {
        ...before,
        ...others,
        name: text(before.name) + text(name),
        arguments: text(before.arguments) + text(more),
      },
    });
  }
  return text(texts.content).length;
}

class MessageAnswer {
  #message: Json = {};
  readonly #blocks: Json[] = [];
  /** The JSON of a tool's input, which arrives in pieces. */
  readonly #inputs: string[] = [];

  take(type: string, event: Json): number {
    const index = position(event.index);
    const delta = object(event.delta);
    switch (type) {
      case 'message_start':
        this.#message = object(event.message);
        return 0;
      case 'content_block_start': {
        this.#blocks[index] = { ...object(event.content_block) };
        return 0;
      }
      case 'content_block_delta':
        return this.#add(index, delta);
      case 'message_delta': {
        const usage = { ...object(this.#message.usage), ...object(event.usage) };
        this.#message = { ...this.#message, ...delta, usage };
        return 0;
      }
      default:
        return 0;
    }
  }

  #add(index: number, { type: _type, partial_json: json, citation, ...texts }: Json): number {
    const block = this.#blocks[index] ?? {};
    this.#blocks[index] = block;
    if (typeof json === 'string') this.#inputs[index] = (this.#inputs[index] ?? '') + json;
    if (citation !== undefined) block.citations = [...objects(block.citations), citation];
    for (const [name, value] of Object.entries(texts)) {
      if (typeof value === 'string') block[name] = text(block[name]) + value;
    }
    return text(texts.text).length;
  }

  answer(): Json {
    const content = this.#blocks.flatMap((block, index) => {
      const input = this.#inputs[index];
      if (block === undefined) return [];
      return [input === undefined || input === '' ? block : { ...block, input: parsed(input) ?? input }];
    });
    return { ...this.#message, content };
  }
}

class ResponseAnswer {
  #response: Json = {};
  #isOver = false;
  readonly #items: Json[] = [];
  readonly #texts: string[] = [];

  take(type: string, { response, item, output_index: index, delta }: Json): number {
    if (response !== undefined) {
      this.#response = object(response);
      this.#isOver = /^response\.(completed|incomplete|failed|cancelled)$/.test(type);
    }
    if (item !== undefined) this.#items[position(index)] = object(item);
    if (type !== 'response.output_text.delta') return 0;
    this.#texts[position(index)] = (this.#texts[position(index)] ?? '') + text(delta);
    return text(delta).length;
  }

  answer(): Json {
    if (this.#isOver) return this.#response;
    const output = this.#items.map((item, index) => {
      const said = this.#texts[index];
      const isStarted = said !== undefined && objects(item.content).length === 0;
      return isStarted ? { ...item, content: [{ type: 'output_text', text: said }] } : item;
    });
    return { ...this.#response, output: output.filter(Boolean) };
  }
}

function parsed(json: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Streams of other programs may have any number here; items are few. */
function position(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 10_000 ? index : 0;
}
