import { createHmac } from 'node:crypto';
import { type AnthropicRefusal, refusalOf } from './fake-anthropic-rules.ts';
import {
  type Interruption,
  type Json,
  type ProviderReply,
  pieces,
  type ReceivedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from './scripted-provider.ts';

export type AnthropicBlock =
  | { text: string }
  | { thinking: string }
  | { redacted: string }
  /** Without `input`, the call has no arguments. */
  | { tool: string; input?: Json; id?: string };

/** One scripted answer: an error status, or a stream of blocks. */
export type AnthropicAnswer =
  | { error: AnthropicRefusal & { headers?: Record<string, string> } }
  | {
      blocks: AnthropicBlock[];
      /** By default `tool_use` if there is a tool, else `end_turn`. */
      stopReason?: string;
      /** The text of a refusal. */
      explanation?: string;
      usage?: Json;
      /** Ends the stream early, with an `error` event of this type or without an event. */
      interrupt?: { afterEvents: number; by: Interruption | 'overloaded_error' | 'api_error' };
    };

/** When the scripted answers are used up, calls are answered with `Hello from Claude.` */
export type FakeAnthropic = ScriptedProvider<AnthropicAnswer>;

export interface FakeAnthropicOptions {
  /** The keys that are accepted; any by default. */
  keys?: string[];
  /** Tokens of logins that are accepted as well; none by default. */
  logins?: string[];
  /** The models that exist; any by default. */
  models?: string[];
}

/** A fake of Anthropic's Messages API: it refuses what the real one refuses, and streams scripts. */
export function startFakeAnthropic(options: FakeAnthropicOptions = {}): Promise<FakeAnthropic> {
  return startScriptedProvider((request, next) => replyTo(request, next, options));
}

function replyTo(
  request: ReceivedRequest,
  next: () => AnthropicAnswer | undefined,
  { keys, logins = [], models }: FakeAnthropicOptions,
): ProviderReply {
  const key = request.headers['x-api-key'];
  const { authorization } = request.headers;
  const isLoggedIn = key === undefined && logins.some((token) => authorization === `Bearer ${token}`);
  if (authorization !== undefined && !isLoggedIn)
    return refuse({ status: 401, type: 'authentication_error', message: `Invalid token ${authorization}` });
  if (isLoggedIn) {
    // No key is needed.
  } else if (typeof key !== 'string' || (keys && !keys.includes(key))) {
    return refuse({ status: 401, type: 'authentication_error', message: 'invalid x-api-key' });
  }
  if (request.method === 'GET' && request.path.startsWith('/v1/models')) {
    const data = (models ?? ['claude-sonnet-5']).map((id) => ({ type: 'model', id, display_name: id }));
    return { kind: 'document', status: 200, json: { data, has_more: false } };
  }
  if (request.method === 'POST' && request.path === '/v1/messages/count_tokens') {
    const answer = next();
    if (answer && 'error' in answer) return refuse(answer.error);
    return { kind: 'document', status: 200, json: { input_tokens: 4242 } };
  }
  if (request.method !== 'POST' || request.path !== '/v1/messages') {
    return refuse({ status: 404, type: 'not_found_error', message: 'Not Found' });
  }
  const model = String(request.body.model);
  const refusal = refusalOf(request, (thinking) => sign(model, thinking));
  if (refusal) return refuse(refusal);
  if (models && !models.includes(model)) {
    return refuse({ status: 404, type: 'not_found_error', message: `model: ${model}` });
  }
  const answer = next() ?? { blocks: [{ text: 'Hello from Claude.' }] };
  if ('error' in answer) return refuse(answer.error);
  return request.body.stream ? stream(answer, model) : whole(answer, model);
}

function refuse({ status, type, message, headers }: AnthropicRefusal & { headers?: Record<string, string> }) {
  const json = { type: 'error', error: { type, message }, request_id: 'req_011CfKWrFbXEEXnGHy3m6XDe' };
  return { kind: 'document', status, ...(headers && { headers }), json } satisfies ProviderReply;
}

/** Thoughts are signed for one model; the signature is invalid for others. */
function sign(model: string, thinking: string): string {
  return createHmac('sha256', `signs for ${model}`).update(thinking).digest('base64');
}

type Script = Extract<AnthropicAnswer, { blocks: unknown }>;

function stream(script: Script, model: string): ProviderReply {
  const events = eventsOf(script, model);
  const { interrupt } = script;
  if (!interrupt) return { kind: 'stream', events };
  const sent = events.slice(0, interrupt.afterEvents);
  const { by } = interrupt;
  if (by === 'close' || by === 'reset' || by === 'stall') {
    return { kind: 'stream', events: sent, interruption: by };
  }
  const message = by === 'overloaded_error' ? 'Overloaded' : 'Internal server error';
  return { kind: 'stream', events: [...sent, sse('error', { error: { details: null, type: by, message } })] };
}

/** The message that the events of a stream amount to. */
function whole(script: Script, model: string): ProviderReply {
  const { delta, message, usage } = envelopeOf(script, model);
  const content = script.blocks.map((block, index) => wholeBlock(block, index, model));
  return { kind: 'document', status: 200, json: { ...message, content, ...delta, usage } };
}

function wholeBlock(block: AnthropicBlock, index: number, model: string): Json {
  if ('text' in block) return { type: 'text', text: block.text };
  if ('thinking' in block) {
    return { type: 'thinking', thinking: block.thinking, signature: sign(model, block.thinking) };
  }
  if ('redacted' in block) return { type: 'redacted_thinking', data: block.redacted };
  return { type: 'tool_use', id: block.id ?? callId(index), name: block.tool, input: block.input ?? {} };
}

function callId(index: number): string {
  return `toolu_01A09q90qw90lq91${index}`;
}

/** What an answer has around its content. */
function envelopeOf(script: Script, model: string) {
  const usage = {
    input_tokens: 25,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 12,
    ...script.usage,
  };
  const callsTool = script.blocks.some((block) => 'tool' in block);
  const delta = {
    stop_reason: script.stopReason ?? (callsTool ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    stop_details:
      script.explanation === undefined
        ? null
        : { type: 'refusal', category: null, explanation: script.explanation },
  };
  const message = {
    model,
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return { usage, delta, message };
}

function eventsOf(script: Script, model: string): string[] {
  const { usage, delta, message } = envelopeOf(script, model);
  return [
    sse('message_start', { message }),
    sse('ping', {}),
    ...script.blocks.flatMap((block, index) => blockEvents(block, index, model)),
    sse('message_delta', { delta, usage }),
    sse('message_stop', {}),
  ];
}

function blockEvents(block: AnthropicBlock, index: number, model: string): string[] {
  const start = (contentBlock: Json) => sse('content_block_start', { index, content_block: contentBlock });
  const delta = (change: Json) => sse('content_block_delta', { index, delta: change });
  const stop = sse('content_block_stop', { index });
  if ('text' in block) {
    const deltas = pieces(block.text).map((text) => delta({ type: 'text_delta', text }));
    return [start({ type: 'text', text: '' }), ...deltas, stop];
  }
  if ('thinking' in block) {
    const deltas = pieces(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking }));
    const signature = delta({ type: 'signature_delta', signature: sign(model, block.thinking) });
    return [start({ type: 'thinking', thinking: '', signature: '' }), ...deltas, signature, stop];
  }
  if ('redacted' in block) return [start({ type: 'redacted_thinking', data: block.redacted }), stop];
  const id = block.id ?? callId(index);
  const json = block.input === undefined ? [''] : ['', ...pieces(JSON.stringify(block.input))];
  const deltas = json.map((text) => delta({ type: 'input_json_delta', partial_json: text }));
  return [start({ type: 'tool_use', id, name: block.tool, input: {} }), ...deltas, stop];
}

function sse(type: string, data: Json): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
