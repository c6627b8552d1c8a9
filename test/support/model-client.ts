import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';

/** OpenAI's formats, which the fake servers of these tests speak too. */
export type OpenAiWire = Exclude<Wire, 'messages'>;

/** Who calls, and where. */
export interface Target {
  url: string;
  key: string;
}

export interface ModelRequest {
  wire: Wire;
  model: string;
  stream: boolean;
  prompt?: string;
  /** Further members of the body. */
  more?: Record<string, unknown>;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** One model call over its own connection, observable while it runs. */
export interface ModelAnswer {
  /** 0 until the headers are there. */
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** What came so far. */
  readonly text: string;
  /** Resolves at the last byte, or when the connection is gone: `end` and `cut`. */
  ended: Promise<'end' | 'cut'>;
  /** Resolves when the headers are there, or the connection is gone. */
  started: Promise<void>;
  /** Resolves when the text contains this; rejects if the answer ends before. */
  receives(text: string): Promise<void>;
  /** Stops reading from the socket, which stays open. */
  stopReading(): void;
  resumeReading(): void;
  disconnect(): void;
}

/** The body of a call in any format. */
export function bodyOf({ wire, model, stream, prompt = 'Say something.', more }: ModelRequest): object {
  if (wire === 'responses') return { model, input: prompt, stream, store: false, ...more };
  if (wire === 'messages')
    return { model, messages: [{ role: 'user', content: prompt }], max_tokens: 4096, stream, ...more };
  const usage = stream ? { stream_options: { include_usage: true } } : {};
  return { model, messages: [{ role: 'user', content: prompt }], stream, ...usage, ...more };
}

export const pathOf = {
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
} as const;

/** Starts a model call without waiting. */
export function callModel(target: Target, asked: ModelRequest): ModelAnswer {
  return new Answer(target, asked);
}

/** Whether an answer that has ended is complete: a stream may also report an error before its last mark. */
export function isComplete({ status, text }: ModelAnswer, stream: boolean): boolean {
  if (status !== 200 || !stream) return status === 200;
  const { errors, isDoneLast } = parseStream(text);
  return isDoneLast && errors.length === 0;
}

/** Calls a model and waits for the end of its answer. */
export async function completeCall(target: Target, asked: ModelRequest): Promise<ModelAnswer> {
  const answer = callModel(target, asked);
  await answer.ended;
  return answer;
}

class Answer implements ModelAnswer {
  status = 0;
  headers: Record<string, string | string[] | undefined> = {};
  text = '';
  ended: Promise<'end' | 'cut'>;
  started: Promise<void>;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;
  #isOver = false;
  #waiting: { text: string; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor({ url, key }: Target, asked: ModelRequest) {
    const body = JSON.stringify(bodyOf(asked));
    const over = Promise.withResolvers<'end' | 'cut'>();
    const begun = Promise.withResolvers<void>();
    this.ended = over.promise;
    this.started = begun.promise;
    const finish = (how: 'end' | 'cut') => {
      this.#isOver = true;
      over.resolve(how);
      begun.resolve();
      for (const { text, reject } of this.#waiting) reject(new Error(`over without ${text}: ${this.text}`));
    };
    this.#request = request(url + pathOf[asked.wire], {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...asked.headers,
      },
    });
    this.#request.on('error', () => finish('cut'));
    this.#request.on('response', (response) => {
      this.#response = response;
      this.status = response.statusCode ?? 0;
      this.headers = response.headers;
      begun.resolve();
      response.setEncoding('utf8');
      response.on('data', (text: string) => this.#take(text));
      response.on('error', () => finish('cut'));
      response.on('close', () => finish(response.complete ? 'end' : 'cut'));
    });
    this.#request.end(body);
  }

  receives(text: string): Promise<void> {
    if (this.text.includes(text)) return Promise.resolve();
    if (this.#isOver) return Promise.reject(new Error(`over without ${text}: ${this.text}`));
    return new Promise((resolve, reject) => this.#waiting.push({ text, resolve, reject }));
  }

  stopReading(): void {
    this.#response?.pause();
  }

  resumeReading(): void {
    this.#response?.resume();
  }

  disconnect(): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    this.text += text;
    this.#waiting = this.#waiting.filter((waiting) => {
      if (!this.text.includes(waiting.text)) return true;
      waiting.resolve();
      return false;
    });
  }
}

/** The content of a stream, parsed without code of the daemon. */
export interface ParsedStream {
  /** The data of every event but `[DONE]`, parsed. */
  events: Record<string, unknown>[];
  /** All text of the answer. */
  text: string;
  /** `completed`, `incomplete`, `failed`, or `finished` for a chat or Messages stream; more than one is a fault. */
  ends: string[];
  /** Codes of the reported errors; in the Messages format, types. */
  errors: string[];
  /** `[DONE]`, or `message_stop` in the Messages format. */
  doneMarks: number;
  /** Whether it is the last event. */
  isDoneLast: boolean;
}

/** Parses a whole stream; throws for a line that belongs to neither an event nor a comment. */
export function parseStream(stream: string): ParsedStream {
  const parsed: ParsedStream = {
    events: [],
    text: '',
    ends: [],
    errors: [],
    doneMarks: 0,
    isDoneLast: false,
  };
  for (const block of stream.split('\n\n')) {
    const data: string[] = [];
    for (const line of block.split('\n')) {
      if (line === '' || line.startsWith(':') || line.startsWith('event: ')) continue;
      if (!line.startsWith('data: '))
        throw new Error(`a line that is none of an event: ${line.slice(0, 200)}`);
      data.push(line.slice(6));
    }
    if (data.length > 1) throw new Error(`an event of ${data.length} lines`);
    const [text] = data;
    if (text === undefined) continue;
    parsed.isDoneLast = text === '[DONE]';
    if (parsed.isDoneLast) parsed.doneMarks += 1;
    else take(JSON.parse(text), parsed);
  }
  return parsed;
}

interface Event extends Record<string, unknown> {
  type?: string;
  delta?: string | { text?: string; stop_reason?: string };
  error?: { code?: string; type: string };
  choices?: { delta?: { content?: string }; finish_reason?: string }[];
}

function take(event: Event, parsed: ParsedStream): void {
  parsed.events.push(event);
  if (event.error) parsed.errors.push(event.error.code ?? event.error.type);
  if (event.type === 'message_stop') {
    parsed.doneMarks += 1;
    parsed.isDoneLast = true;
  }
  if (typeof event.delta === 'object') {
    parsed.text += event.delta.text ?? '';
    if (event.delta.stop_reason) parsed.ends.push('finished');
  } else if (event.type === 'response.output_text.delta') parsed.text += event.delta;
  const end = /^response\.(completed|incomplete|failed)$/.exec(event.type ?? '');
  if (end?.[1]) parsed.ends.push(end[1]);
  for (const choice of event.choices ?? []) {
    parsed.text += choice.delta?.content ?? '';
    if (choice.finish_reason) parsed.ends.push('finished');
  }
}
