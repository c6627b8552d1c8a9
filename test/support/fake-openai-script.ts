/** The next answer of the fake provider. Omitted members have defaults. */
export interface FakeAnswer {
  /** Sent word by word; a default text if the answer has no other content. */
  text?: string;
  /** The text in pieces, if they matter. */
  pieces?: string[];
  refusal?: string;
  /** Thoughts before the answer: an encrypted item in the Responses format, `reasoning_content` in the chat format. */
  reasoning?: string;
  /** Several are parallel calls; in the chat format their pieces interleave by default. */
  calls?: FakeCall[];
  callsInterleave?: boolean;
  finish?: 'stop' | 'length' | 'content_filter';
  usage?: FakeUsage | 'none';
  /** Further members of the finished response, in the Responses format. */
  members?: Record<string, unknown>;
  /** Where chat streams have usage: in a separate chunk (OpenAI), in the last one with a choice, or in x_groq. */
  usageIn?: 'own-chunk' | 'last-chunk' | 'x_groq';
  /** Refuses the call. */
  error?: FakeError;
  /** Ends the stream after this many events: with an error event, a broken connection, a clean end, or silence. */
  breakAfter?: { events: number; by: 'error' | 'cut' | 'end' | 'stall'; code?: string };
  /** The delay between two events. */
  dripMs?: number;
  /** Splits the stream into writes of this many bytes. */
  bytesPerWrite?: number;
  /** Accepts the request and never answers. */
  silent?: boolean;
  /** Additional headers of the answer. */
  headers?: Record<string, string>;
  /** Answers with exactly this response. */
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

/** The pieces of an answer's text. */
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
