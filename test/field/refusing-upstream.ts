import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseResponses } from '../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { translatingUpstreams } from '../../src/daemon/features/inference/translation/translating-upstreams.ts';
import type { Inference, ReasoningOrigin } from '../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';
import { fakeWorld } from '../support/fake-world.ts';

export type Json = Record<string, unknown>;

const settings = { name: 'acme', baseUrl: 'https://llm.acme.example/v1' };
const adapters = {
  chat: chatAdapter(settings),
  responses: responsesAdapter(settings),
  messages: anthropicAdapter(settings),
};
export type Wire = keyof typeof adapters;

/** An upstream that refuses bodies, by its status and error, and the bodies that it got. */
export function refusing(wire: Wire, refuse: (body: Json) => { status?: number; error: Json } | undefined) {
  const adapter = adapters[wire];
  const bodies: Json[] = [];
  const upstream = () => ({
    name: settings.name,
    async open(call: UpstreamCall) {
      const body = JSON.parse(adapter.request(call).body) as Json;
      bodies.push(body);
      const refused = refuse(body);
      if (refused) throw adapter.failure(refused.status ?? 400, {}, JSON.stringify(refused));
      async function* batches() {}
      return { kind: 'stream' as const, batches: batches() };
    },
  });
  let current = upstream();
  const upstreams = translatingUpstreams({ get: () => current as never }, fakeWorld());
  return {
    bodies,
    reload: () => {
      current = upstream();
    },
    open: (inference: Inference, model = 'custom', outputTokensMax = 50) =>
      upstreams
        .get('acme')
        ?.open(callOf(inference, { model, wire, outputTokensMax }), new AbortController().signal),
    learned: () => upstreams.refusalsOf('acme').map(({ member, becomes }) => ({ member, becomes })),
  };
}

const nothing = () => undefined;
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
export const history = [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: 'b' },
];
export const strictTool = {
  type: 'function',
  function: { name: 'f', strict: true, parameters: { type: 'object', properties: {} } },
};
export const chat = (more: Json = {}) =>
  parseChat({ model: 'm', stream: true, messages: history, ...more } as never, nothing);
const origin: ReasoningOrigin = {
  provider: 'acme',
  model: 'custom',
  payload: { reasoning_content: 'hm', encrypted_content: 'sealed' },
};
export const responses = (more: Json = {}) => {
  const input = (more.input as Json[] | undefined) ?? [
    { role: 'user', content: 'a' },
    { type: 'reasoning', summary: [], encrypted_content: 'ours' },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'b' },
  ];
  const items = parseInput(input, () => origin, String);
  const tools = [
    { type: 'function', name: 'f', strict: true, parameters: { type: 'object', properties: {} } },
  ];
  return parseResponses({ model: 'm', stream: true, input, tools, ...more } as never, items);
};
