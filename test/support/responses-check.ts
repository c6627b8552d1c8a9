import assert from 'node:assert/strict';
import { SseReader } from '../../src/shared/http/sse.ts';
import { type Item, ResponseResource, StreamEvent } from './open-responses.ts';

type Of<T extends StreamEvent['type']> = Extract<StreamEvent, { type: T }>;

/** An item while its events come. Parts are strings that grow; `open` is the one that may still grow. */
interface Growing {
  added: Item;
  parts: { kind: string; text: string; logprobs: unknown[]; annotations: unknown[] }[];
  isPartOpen: boolean;
  arguments: string;
  areArgumentsTold: boolean;
  done: Item | undefined;
}

/**
 * Holds a whole Responses stream to the format: each event to its schema, and all of them to their order. Returns the
 * final response. `chunks` are the chunks of the HTTP body.
 */
export function checkResponsesStream(chunks: readonly string[]): ResponseResource {
  const events = eventsIn(chunks);
  const check = new StreamCheck();
  for (const event of events) check.take(event);
  return check.end();
}

/** Every chunk is whole events: some clients lose one that is cut between its data and its blank line. */
function eventsIn(chunks: readonly string[]): StreamEvent[] {
  const encoder = new TextEncoder();
  const reader = new SseReader();
  const read = chunks.flatMap((chunk) => {
    assert.match(chunk, /\n\n$/, 'a chunk ends with a blank line');
    return reader.push(encoder.encode(chunk));
  });
  const last = read.pop();
  assert.equal(last?.data, '[DONE]', 'the last data is [DONE]');
  return read.map(({ event, data, id }) => {
    assert.equal(id, undefined, 'events have no id');
    const parsed = StreamEvent.safeParse(JSON.parse(data));
    assert.ok(parsed.success, `${event}: ${parsed.error?.message}\n${data}`);
    assert.equal(parsed.data.type, event, 'the event is named as its type');
    return parsed.data;
  });
}

class StreamCheck {
  #sequence = -1;
  #first: ResponseResource | undefined;
  #last: ResponseResource | undefined;
  #seen: string[] = [];
  #error: Of<'error'> | undefined;
  readonly #items: Growing[] = [];

  take(event: StreamEvent): void {
    assert.equal(this.#last, undefined, `${event.type} comes after the terminal event`);
    if (this.#sequence < 0) assert.equal(event.sequence_number, 0, 'sequence numbers start at 0');
    assert.ok(event.sequence_number > this.#sequence, 'sequence numbers rise');
    this.#sequence = event.sequence_number;
    this.#order(event);
    this.#seen.push(event.type);
    if ('response' in event) this.#snapshot(event.response);
    else if (event.type === 'error') this.#error = event;
    else if ('output_index' in event) this.#inItem(event);
    if (/^response\.(completed|failed|incomplete)$/.test(event.type))
      this.#terminal(event as Of<'response.completed'>);
  }

  end(): ResponseResource {
    assert.ok(this.#last, 'the stream has a terminal event');
    return this.#last;
  }

  #order({ type }: StreamEvent): void {
    const seen = (name: string) => this.#seen.includes(name);
    if (type === 'response.created') assert.equal(this.#seen.length, 0, 'created comes first and once');
    else assert.ok(seen('response.created'), 'created comes first');
    const once = ['response.in_progress', 'service:route', 'service:cost', 'error'];
    if (once.includes(type)) assert.ok(!seen(type), `${type} comes once`);
    if (/output_item|content_part|output_text|refusal|function_call|reasoning/.test(type)) {
      assert.ok(seen('response.in_progress'), 'items come after in_progress');
      assert.ok(!seen('service:cost') && !seen('error'), `${type} comes before the end begins`);
    }
    if (type === 'service:route')
      assert.ok(!seen('response.output_item.added'), 'the route is reported first');
  }

  #snapshot(response: ResponseResource): void {
    this.#first ??= response;
    for (const member of ['id', 'created_at', 'model'] as const)
      assert.equal(response[member], this.#first[member], `${member} never changes`);
  }

  #inItem(event: Extract<StreamEvent, { output_index: number }>): void {
    if (event.type === 'response.output_item.added') {
      assert.equal(event.output_index, this.#items.length, 'items are numbered as they come');
      this.#items.push(startItem(event.item));
      return;
    }
    const item = this.#items[event.output_index];
    assert.ok(item && !item.done, `${event.type} is of an open item`);
    if (event.type === 'response.output_item.done') finishItem(item, event.item);
    else {
      assert.equal(event.item_id, item.added.id, 'ids are stable');
      growItem(item, event);
    }
  }

  #terminal({ type, response }: { type: string; response: ResponseResource }): void {
    this.#last = response;
    assert.equal(`response.${response.status}`, type);
    assert.ok(response.usage, 'usage is reported at the end');
    assert.equal(response.error !== null, response.status === 'failed');
    assert.equal(response.incomplete_details !== null, response.status === 'incomplete');
    assert.equal(response.completed_at !== null, response.status === 'completed');
    assert.equal(this.#error !== undefined, response.status === 'failed', 'error comes before failed only');
    const done = this.#items.filter(({ done }) => done).map(({ done }) => done);
    if (response.status === 'failed') {
      assert.equal(response.error?.code, this.#error?.error.code);
      assert.equal(response.output.length, this.#items.length);
      response.output.forEach((item, index) => {
        assert.equal(item.id, this.#items[index]?.added.id);
        const finished = this.#items[index]?.done;
        if (finished) assert.deepEqual(item, finished);
        else if ('status' in item) assert.equal(item.status, 'incomplete');
      });
    } else {
      assert.equal(done.length, this.#items.length, 'every item ends');
      assert.deepEqual(response.output, done, 'the terminal output is the done items');
      checkStatuses(response);
    }
  }
}

/** Only the last item of an incomplete response may be incomplete. */
function checkStatuses({ status, output }: ResponseResource): void {
  output.forEach((item, index) => {
    if (!('status' in item)) return;
    const isCut = status === 'incomplete' && index === output.length - 1;
    if (status === 'failed' && item.status === 'incomplete') return;
    assert.equal(item.status, isCut ? 'incomplete' : 'completed', `status of item ${index}`);
  });
}

function startItem(item: Item): Growing {
  if ('status' in item) assert.equal(item.status, 'in_progress');
  if (item.type === 'message') assert.deepEqual(item.content, []);
  else if (item.type === 'function_call') assert.equal(item.arguments, '');
  else {
    assert.deepEqual(item.summary, []);
    assert.equal(item.encrypted_content, undefined);
  }
  return {
    added: item,
    parts: [],
    isPartOpen: false,
    arguments: '',
    areArgumentsTold: false,
    done: undefined,
  };
}

type InnerEvent = Exclude<
  Extract<StreamEvent, { output_index: number }>,
  { type: 'response.output_item.added' | 'response.output_item.done' }
>;

function growItem(item: Growing, event: InnerEvent): void {
  const index =
    'content_index' in event ? event.content_index : 'summary_index' in event ? event.summary_index : 0;
  const part = item.parts[index];
  switch (event.type) {
    case 'response.content_part.added':
    case 'response.reasoning_summary_part.added':
      assert.ok(!item.isPartOpen, 'one part is open at a time');
      assert.equal(index, item.parts.length, 'parts are numbered as they come');
      assert.equal('refusal' in event.part ? event.part.refusal : event.part.text, '');
      item.parts.push({ kind: event.part.type, text: '', logprobs: [], annotations: [] });
      item.isPartOpen = true;
      return;
    case 'response.function_call_arguments.delta':
      assert.ok(!item.areArgumentsTold);
      item.arguments += event.delta;
      return;
    case 'response.function_call_arguments.done':
      assert.equal(event.arguments, item.arguments, 'done repeats the deltas');
      item.areArgumentsTold = true;
      return;
  }
  assert.ok(part && item.isPartOpen && index === item.parts.length - 1, `${event.type} is of the open part`);
  switch (event.type) {
    case 'response.output_text.delta':
      part.logprobs.push(...event.logprobs);
      part.text += event.delta;
      return;
    case 'response.refusal.delta':
    case 'response.reasoning_summary_text.delta':
      part.text += event.delta;
      return;
    case 'response.output_text.annotation.added':
      assert.equal(event.annotation_index, part.annotations.length);
      part.annotations.push(event.annotation);
      return;
    case 'response.output_text.done':
      assert.equal(event.text, part.text);
      assert.deepEqual(event.logprobs, part.logprobs);
      return;
    case 'response.refusal.done':
      assert.equal(event.refusal, part.text);
      return;
    case 'response.reasoning_summary_text.done':
      assert.equal(event.text, part.text);
      return;
    default:
      assert.deepEqual(event.part, shownPart(part));
      item.isPartOpen = false;
  }
}

function shownPart({ kind, text, logprobs, annotations }: Growing['parts'][number]): unknown {
  if (kind === 'refusal') return { type: kind, refusal: text };
  return kind === 'output_text' ? { type: kind, text, annotations, logprobs } : { type: kind, text };
}

function finishItem(item: Growing, done: Item): void {
  item.done = done;
  assert.equal(done.id, item.added.id);
  assert.equal(done.type, item.added.type);
  assert.ok(!item.isPartOpen, 'parts are closed before their item');
  if ('status' in done) assert.notEqual(done.status, 'in_progress');
  if (done.type === 'message') assert.deepEqual(done.content, item.parts.map(shownPart));
  else if (done.type === 'reasoning') assert.deepEqual(done.summary, item.parts.map(shownPart));
  else if (item.added.type === 'function_call') {
    assert.ok(item.areArgumentsTold, 'arguments.done comes before the item is done');
    assert.equal(done.arguments, item.arguments);
    assert.equal(done.call_id, item.added.call_id);
    assert.equal(done.name, item.added.name);
    assert.notEqual(done.call_id, done.id);
    if (done.status === 'completed') JSON.parse(done.arguments);
  }
}

/** Holds a whole JSON answer to the format. */
export function checkResponse(json: unknown): ResponseResource {
  const parsed = ResponseResource.safeParse(json);
  assert.ok(parsed.success, `${parsed.error?.message}\n${JSON.stringify(json)}`);
  const { data } = parsed;
  assert.ok(data.usage);
  assert.equal(data.completed_at !== null, data.status === 'completed');
  assert.equal(data.incomplete_details !== null, data.status === 'incomplete');
  checkStatuses(data);
  return data;
}
