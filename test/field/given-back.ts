import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { refusalOf } from '../support/fake-anthropic-rules.ts';
import { openAiAs } from '../support/model-backends.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/**
 * Answers of every upstream format, which a client of every format puts into its next request as they came. The next request
 * must be accepted, and what the provider must see again must be in it.
 */

export type Json = Record<string, unknown>;
export type Format = 'chat' | 'responses' | 'messages';
export const formats: readonly Format[] = ['chat', 'responses', 'messages'];

export interface GivenBack {
  name: string;
  /** owner/repo#number */
  cite?: string;
  wire: Format;
  /** The message of the chat format, the items of the Responses format, or the blocks of the Messages format. */
  answer: Json | Json[];
  /** The members next to the choices of the chat format. */
  beside?: Json;
  /** The provider's word for the end; by default that of an answer with or without calls. */
  finish?: string;
  /** What must be in the next request, whatever the client's format. */
  again?: readonly string[];
  /** The same for clients of the upstream's own format. */
  againToOwn?: readonly string[];
  /** Whether a stream of the chat format has the other members of its message after text and calls. */
  isLate?: true;
  /** The client formats that can have this answer; by default all. */
  clients?: readonly Format[];
}

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const messageUsage = { input_tokens: 3, output_tokens: 4 };

function sse(events: Json[], end = ''): string {
  return (
    events
      .map((event) => {
        const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
        return `${name}data: ${JSON.stringify(event)}\n\n`;
      })
      .join('') + end
  );
}

function halves(text: string): string[] {
  const at = Math.ceil(text.length / 2);
  return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== '');
}

// ---- what the fake answers ----

/** The values of a member in the deltas of a stream: texts in halves, and signatures after them. */
function piecesOf(name: string, value: unknown): unknown[] {
  if (typeof value === 'string') return halves(value);
  if (name !== 'reasoning_details' && name !== 'thinking_blocks') return [value];
  return (value as Json[]).flatMap((part): unknown[] => {
    const member = name === 'thinking_blocks' ? 'thinking' : 'text';
    if (typeof part[member] !== 'string') return [[part]];
    const { signature, ...unsigned } = part;
    const texts = halves(part[member]).map((text) => [{ ...unsigned, [member]: text }]);
    return signature === undefined ? texts : [...texts, [{ ...unsigned, [member]: '', signature }]];
  });
}

function chatAnswer({ answer, beside, finish, isLate }: GivenBack, stream: boolean): string {
  const message = { role: 'assistant', ...(answer as Json) };
  const calls = (message as Json).tool_calls as Json[] | undefined;
  const finish_reason = finish ?? (calls ? 'tool_calls' : 'stop');
  const head = { id: 'c1', created: 1, model: 'm', ...beside };
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason }];
    return JSON.stringify({ ...head, object: 'chat.completion', choices, usage });
  }
  const { content, tool_calls: _calls, role, ...others } = message as Json;
  const deltas: Json[] = [{ role, content: '' }];
  const extras = Object.entries(others).flatMap(([name, value]) =>
    piecesOf(name, value).map((piece) => ({ [name]: piece })),
  );
  if (!isLate) deltas.push(...extras);
  if (typeof content === 'string') for (const piece of halves(content)) deltas.push({ content: piece });
  for (const [index, call] of (calls ?? []).entries()) {
    const kind = call.type === 'custom' ? 'custom' : 'function';
    const called = call[kind] as Json;
    const text = String(called[kind === 'custom' ? 'input' : 'arguments']);
    const member = kind === 'custom' ? 'input' : 'arguments';
    deltas.push({ tool_calls: [{ ...call, index, [kind]: { ...called, [member]: '' } }] });
    for (const piece of halves(text)) deltas.push({ tool_calls: [{ index, [kind]: { [member]: piece } }] });
  }
  if (isLate) deltas.push(...extras);
  const chunks = deltas.map((delta) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const last = {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: {}, finish_reason }],
  };
  return sse(
    [...chunks, last, { ...head, object: 'chat.completion.chunk', choices: [], usage }],
    'data: [DONE]\n\n',
  );
}

const responseUsage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 7,
};

function responsesAnswer({ answer, finish }: GivenBack, stream: boolean): string {
  const output = answer as Json[];
  const status = finish === undefined ? 'completed' : 'incomplete';
  const whole = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status,
    output,
    ...(finish && { incomplete_details: { reason: finish } }),
    usage: responseUsage,
    error: null,
    tools: [],
  };
  if (!stream) return JSON.stringify(whole);
  const started = { ...whole, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...output.flatMap((item, output_index) => itemEvents(item, output_index)),
    { type: `response.${status}`, response: whole },
  ];
  return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

function itemEvents(item: Json, output_index: number): Json[] {
  const at = { output_index, item_id: item.id };
  const done = { type: 'response.output_item.done', output_index, item };
  const added = (empty: Json) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...empty, status: 'in_progress' },
  });
  const texts = (name: string, member: string, text: string): Json[] => [
    ...halves(text).map((delta) => ({ ...at, type: `response.${name}.delta`, delta })),
    { ...at, type: `response.${name}.done`, [member]: text },
  ];
  switch (item.type) {
    case 'message':
      return [
        added({ content: [] }),
        ...(item.content as Json[]).flatMap((part, content_index): Json[] => {
          const place = { ...at, content_index };
          const [kind, member] = part.type === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text'];
          const empty = { ...part, [member]: '', ...(kind === 'output_text' && { annotations: [] }) };
          const annotations = (part.annotations ?? []) as Json[];
          return [
            { ...place, type: 'response.content_part.added', part: empty },
            ...texts(kind, member, String(part[member])).map((event) => ({ ...event, ...place })),
            ...annotations.map((annotation, annotation_index) => ({
              ...place,
              type: 'response.output_text.annotation.added',
              annotation_index,
              annotation,
            })),
            { ...place, type: 'response.content_part.done', part },
          ];
        }),
        done,
      ];
    case 'function_call':
      return [
        added({ arguments: '' }),
        ...texts('function_call_arguments', 'arguments', String(item.arguments)),
        done,
      ];
    case 'custom_tool_call':
      return [added({ input: '' }), ...texts('custom_tool_call_input', 'input', String(item.input)), done];
    case 'reasoning':
      return [
        added({ summary: [], encrypted_content: undefined }),
        ...((item.summary ?? []) as Json[]).flatMap((part, summary_index): Json[] => {
          const place = { ...at, summary_index };
          return [
            { ...place, type: 'response.reasoning_summary_part.added', part: { ...part, text: '' } },
            ...texts('reasoning_summary_text', 'text', String(part.text)).map((event) => ({
              ...event,
              ...place,
            })),
            { ...place, type: 'response.reasoning_summary_part.done', part },
          ];
        }),
        done,
      ];
    default:
      return [added({}), done];
  }
}

function messagesAnswer({ answer, finish }: GivenBack, stream: boolean): string {
  const content = answer as Json[];
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  const stop_reason = finish ?? (hasCalls ? 'tool_use' : 'end_turn');
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage: messageUsage };
  if (!stream) return JSON.stringify({ ...message, content, stop_reason, stop_sequence: null });
  const blocks = content.flatMap((block, index): Json[] => {
    const delta = (each: Json) => ({ type: 'content_block_delta', index, delta: each });
    const [empty, deltas] = blockDeltas(block);
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...empty } },
      ...deltas.map(delta),
      { type: 'content_block_stop', index },
    ];
  });
  return sse([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: messageUsage },
    { type: 'message_stop' },
  ]);
}

function blockDeltas(block: Json): [empty: Json, deltas: Json[]] {
  switch (block.type) {
    case 'text': {
      const citations = (block.citations ?? []) as Json[];
      return [
        { text: '', ...(block.citations !== undefined && { citations: [] }) },
        [
          ...citations.map((citation) => ({ type: 'citations_delta', citation })),
          ...halves(String(block.text)).map((text) => ({ type: 'text_delta', text })),
        ],
      ];
    }
    case 'thinking': {
      const { signature } = block;
      return [
        { thinking: '', signature: '' },
        [
          ...halves(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
          ...(signature ? [{ type: 'signature_delta', signature }] : []),
        ],
      ];
    }
    case 'tool_use':
    case 'server_tool_use':
      return [
        { input: {} },
        halves(JSON.stringify(block.input)).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      ];
    case 'compaction':
      return [{ content: null }, [{ type: 'compaction_delta', content: block.content }]];
    default:
      return [{}, []];
  }
}

const answerOf: Record<Format, (shape: GivenBack, stream: boolean) => string> = {
  chat: chatAnswer,
  responses: responsesAnswer,
  messages: messagesAnswer,
};

// ---- the clients ----

const schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
const names = ['f', 'g'] as const;
const go = 'Go.';

/** A conversation of two turns: returns the message, items or blocks that the client got first. */
type Client = (model: string, stream: boolean) => Promise<Json[]>;

interface Clients {
  openai: OpenAI;
  anthropic: Anthropic;
}

/** The message of a chat stream as clients assemble it that know members of providers, such as the AI SDK of OpenRouter. */
function assembledChat(chunks: readonly Json[]): Json {
  const message: Json = { role: 'assistant', content: null };
  const calls: Json[] = [];
  for (const chunk of chunks) {
    const [choice] = (chunk.choices ?? []) as { delta?: Json }[];
    for (const [name, value] of Object.entries(choice?.delta ?? {})) {
      if (name === 'role' || value === null || value === undefined) continue;
      if (name === 'reasoning_details' || name === 'thinking_blocks') {
        message[name] = joinedParts([...((message[name] as Json[]) ?? []), ...(value as Json[])]);
      } else if (name === 'tool_calls') {
        for (const piece of value as Json[]) {
          const at = Number(piece.index);
          calls[at] ??= {};
          merge(calls[at], piece);
        }
      } else if (typeof value === 'string') message[name] = `${message[name] ?? ''}${value}`;
      else if (Array.isArray(value)) message[name] = [...((message[name] as unknown[]) ?? []), ...value];
      else message[name] = value;
    }
  }
  if (calls.length > 0) message.tool_calls = calls.map(({ index: _index, ...call }) => call);
  return message;
}

/** Texts that follow one another up to a signature are one. */
function joinedParts(parts: readonly Json[]): Json[] {
  const joined: Json[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const member = part.thinking === undefined ? 'text' : 'thinking';
    if (last === undefined || last.type !== part.type || last.signature || part[member] === undefined)
      joined.push({ ...part });
    else Object.assign(last, part, { [member]: `${last[member]}${part[member]}` });
  }
  return joined;
}

function merge(call: Json, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    if (name === 'function' || name === 'custom') {
      call[name] ??= {};
      const called = call[name] as Json;
      for (const [member, text] of Object.entries(value as Json)) {
        if (typeof text !== 'string') continue;
        called[member] = member === 'name' ? text : `${called[member] ?? ''}${text}`;
      }
    } else call[name] = value;
  }
}

function clientsOf({ openai, anthropic }: Clients): Record<Format, Client> {
  return {
    async chat(model, stream) {
      const tools = [
        ...names.map((name) => ({ type: 'function' as const, function: { name, parameters: schema } })),
        { type: 'custom' as const, custom: { name: 'patch' } },
      ];
      const user = { role: 'user' as const, content: go };
      const call = { model, tools, messages: [user] };
      let message: Json;
      if (stream) {
        const chunks: Json[] = [];
        for await (const chunk of await openai.chat.completions.create({ ...call, stream }))
          chunks.push(chunk as unknown as Json);
        message = assembledChat(chunks);
      } else {
        const answer = await openai.chat.completions.create(call);
        message = answer.choices[0]?.message as unknown as Json;
      }
      const outputs = ((message.tool_calls ?? []) as Json[]).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: String(id),
        content: 'done',
      }));
      const messages = [user, message as never, ...outputs, user];
      await openai.chat.completions.create({ ...call, messages });
      return [message];
    },
    async responses(model, stream) {
      const tools = [
        ...names.map((name) => ({ type: 'function', strict: false, name, parameters: schema })),
        { type: 'custom', name: 'patch' },
        { type: 'shell', environment: { type: 'local' } },
        { type: 'local_shell' },
        { type: 'apply_patch' },
      ] as never;
      const include = ['reasoning.encrypted_content' as const];
      const user = { role: 'user' as const, content: go };
      const call = { model, tools, include, store: false, input: [user] };
      const answer = stream
        ? await openai.responses.stream(call).finalResponse()
        : await openai.responses.create(call);
      const items = answer.output as unknown as Json[];
      const outputs = items.flatMap((item) => outputsOf(item));
      const input = [user, ...items.map(plainItem), ...outputs, user] as never;
      await openai.responses.create({ ...call, input });
      return items;
    },
    async messages(model, stream) {
      const tools = names.map((name) => ({ name, input_schema: schema }));
      const user = { role: 'user' as const, content: go };
      const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
      const call = { model, max_tokens: 4096, thinking, tools, messages: [user] };
      const answer = stream
        ? await anthropic.beta.messages.stream(call).finalMessage()
        : await anthropic.beta.messages.create(call);
      const results = answer.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'done' }]
          : [],
      );
      const next = [...results, { type: 'text' as const, text: 'Go on.' }];
      // An answer without content cannot be sent back in this format.
      const said = answer.content.length > 0 ? [{ role: 'assistant' as const, content: answer.content }] : [];
      const messages = [user, ...said, { role: 'user' as const, content: next }] as never;
      await anthropic.beta.messages.create({ ...call, messages });
      return answer.content as unknown as Json[];
    },
  };
}

/** The SDK adds members for its callers, which its own helpers leave out again. */
function plainItem({ parsed_arguments: _parsed, ...item }: Json): Json {
  if (!Array.isArray(item.content)) return item;
  return { ...item, content: (item.content as Json[]).map(({ parsed: _, ...part }) => part) };
}

function outputsOf({ type, call_id, id }: Json): Json[] {
  switch (type) {
    case 'function_call':
      return [{ type: 'function_call_output', call_id, output: 'done' }];
    case 'custom_tool_call':
      return [{ type: 'custom_tool_call_output', call_id, output: 'done' }];
    case 'shell_call':
      return [
        {
          type: 'shell_call_output',
          call_id,
          output: [{ stdout: 'done', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        },
      ];
    case 'local_shell_call':
      return [{ type: 'local_shell_call_output', id: call_id, call_id, output: 'done' }];
    case 'apply_patch_call':
      return [{ type: 'apply_patch_call_output', call_id, status: 'completed', output: 'done' }];
    case 'mcp_approval_request':
      return [{ type: 'mcp_approval_response', approval_request_id: id, approve: true }];
    default:
      return [];
  }
}

// ---- one conversation ----

export interface Conversations {
  /** Holds one conversation; returns the body of its second request to the upstream. */
  hold(shape: GivenBack, client: Format, stream: boolean): Promise<Json>;
  /** What the client of the last conversation got. */
  said(): Json[];
  /** Sends blocks of an answer to another upstream, in the Messages format; returns the body that it gets. */
  continueAt(wire: Format, content: Json[]): Promise<Json>;
  stop(): Promise<void>;
}

export async function startConversations(): Promise<Conversations> {
  const asked = new Map<string, Json[]>();
  const current = new Map<string, GivenBack>();
  const fake: Server = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const json = JSON.parse(body || '{}') as Json;
    const model = String(json.model);
    const shape = current.get(model);
    if (shape) asked.get(model)?.push(json);
    const stream = json.stream === true;
    reply.writeHead(shape ? 200 : 404, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    reply.end(shape ? answerOf[shape.wire](shape, stream) : '{}');
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstreams = formats.map((wire) => ({ name: `up-${wire}`, base_url, models: ['*'], wire }));
  const daemon: RunningDaemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
  const anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
  const clients = clientsOf({ openai: openAiAs(daemon), anthropic });
  let count = 0;
  let said: Json[] = [];
  return {
    said: () => said,
    async continueAt(wire, content) {
      count += 1;
      const model = `m${count}`;
      const messages = [
        { role: 'user', content: go },
        { role: 'assistant', content },
        { role: 'user', content: go },
      ] as never;
      current.set(model, { name: '', wire, answer: wire === 'chat' ? { content: 'Yes.' } : [] });
      asked.set(model, []);
      await anthropic.beta.messages.create({ model: `up-${wire}/${model}`, max_tokens: 99, messages });
      return asked.get(model)?.[0] ?? {};
    },
    async hold(shape, client, stream) {
      count += 1;
      const model = `m${count}`;
      current.set(model, shape);
      asked.set(model, []);
      said = await clients[client](`up-${shape.wire}/${model}`, stream);
      const bodies = asked.get(model) ?? [];
      const [, second] = bodies;
      if (bodies.length !== 2 || second === undefined) throw new Error(`${bodies.length} requests`);
      return second;
    },
    async stop() {
      await daemon.stop();
      fake.closeAllConnections();
      fake.close();
    },
  };
}

/** What the provider must see again and does not. */
export function missingOf(shape: GivenBack, client: Format, body: Json): string[] {
  const sent = JSON.stringify(body);
  const { again = [], againToOwn = [] } = shape;
  return [...again, ...(client === shape.wire ? againToOwn : [])].filter((each) => !sent.includes(each));
}

/** What a provider would refuse in a request; undefined if nothing. */
export function faultOf(shape: GivenBack, body: Json): string | undefined {
  if (shape.wire === 'messages') {
    const signed = new Map(
      (shape.answer as Json[]).map(({ thinking, signature }) => [thinking, signature ?? '']),
    );
    const headers = { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
    const sign = (thinking: string) => String(signed.get(thinking));
    return refusalOf({ headers, body } as never, sign)?.message;
  }
  return shape.wire === 'chat' ? chatFault(body) : responsesFault(body);
}

function chatFault({ messages }: Json): string | undefined {
  const waiting = new Set<unknown>();
  for (const message of messages as Json[]) {
    const { role, content, tool_calls: calls } = message;
    if (role === 'tool') {
      if (!waiting.delete(message.tool_call_id)) return `no call for ${message.tool_call_id}`;
    } else if (waiting.size > 0) return 'a call without output';
    if (role === 'assistant' && (content ?? calls ?? null) === null) return 'an empty message';
    if (Array.isArray(content) && content.length === 0) return 'an empty content';
    if (JSON.stringify(message).includes('gateway-sealed')) return 'sealed by the gateway';
    for (const call of (calls ?? []) as Json[]) {
      const called = call.function as Json | undefined;
      if (called) JSON.parse(String(called.arguments));
      waiting.add(call.id);
    }
  }
  return waiting.size > 0 ? 'a call without output' : undefined;
}

function responsesFault({ input }: Json): string | undefined {
  const ends = (ending: RegExp) =>
    (input as Json[]).filter(({ type }) => ending.test(String(type))).map(({ call_id }) => String(call_id));
  const calls = ends(/(function|shell|patch|custom_tool)_call$/);
  const outputs = ends(/_call_output$/);
  if (calls.join() !== outputs.join()) return `calls ${calls.join()}, outputs ${outputs.join()}`;
  for (const item of input as Json[]) {
    if (item.type === 'function_call') JSON.parse(String(item.arguments));
    if (item.type === 'reasoning' && !(item.encrypted_content || item.content))
      return 'reasoning without its content';
  }
  return undefined;
}
