/** What the fake provider is to answer with. Members that are left out are ordinary. */
export interface FakeAnswer {
  /** Sent word by word; a default where nothing else is said either. */
  text?: string;
  /** The text in pieces, when they matter. */
  pieces?: string[];
  refusal?: string;
  /** Thoughts before the answer: a sealed item in the Responses format, `reasoning_content` in the chat format. */
  reasoning?: string;
  /** Several are parallel calls; in the chat format their pieces interleave unless told otherwise. */
  calls?: FakeCall[];
  callsInterleave?: boolean;
  finish?: 'stop' | 'length' | 'content_filter';
  usage?: FakeUsage | 'none';
  /** Where the chat format tells usage: in a chunk of its own (OpenAI), in the last one with a choice, or in x_groq. */
  usageIn?: 'own-chunk' | 'last-chunk' | 'x_groq';
  /** Refuses the call. */
  error?: FakeError;
  /** Breaks off the stream after that many events: with an error event, a broken connection, a clean end, or silence. */
  breakAfter?: { events: number; by: 'error' | 'cut' | 'end' | 'stall'; code?: string };
  /** Between two events. */
  dripMs?: number;
  /** Cuts the bytes of the stream into writes of that many. */
  bytesPerWrite?: number;
  /** Takes the request and never answers. */
  silent?: boolean;
  /** Answers with exactly this. */
  raw?: { status?: number; headers?: Record<string, string>; body: string | Uint8Array };
}

export interface FakeCall {
  id?: string;
  name: string;
  /** Empty text for a call without arguments. */
  arguments: Record<string, unknown> | string;
}

export interface FakeUsage {
  input: number;
  output: number;
  cached?: number;
  reasoning?: number;
}

export interface FakeError {
  status: number;
  code?: string | null;
  type?: string;
  message?: string;
  param?: string | null;
  headers?: Record<string, string>;
}

export interface FakeRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** Undefined for a request without a JSON body. */
  body: Record<string, unknown> | undefined;
}

export const defaultUsage: FakeUsage = { input: 11, output: 7 };

/** The pieces that an answer's text comes in. */
export function piecesOf(answer: FakeAnswer, body: Record<string, unknown>): string[] {
  if (answer.pieces) return answer.pieces;
  const isBare = !answer.calls && answer.refusal === undefined;
  const text = answer.text ?? (isBare ? defaultText(body) : '');
  return text.match(/\s*\S+\s*/g) ?? [];
}

function defaultText(body: Record<string, unknown>): string {
  const { response_format: format, text } = body as {
    response_format?: unknown;
    text?: { format?: unknown };
  };
  const asked = JSON.stringify(format ?? text?.format ?? {});
  return asked.includes('"json_') ? '{"answer": "yes"}' : 'Hello from the fake provider.';
}

export function argumentsOf(call: FakeCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

export function callIdOf(call: FakeCall, index: number): string {
  return call.id ?? `call_fake${index}`;
}
