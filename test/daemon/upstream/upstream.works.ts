import {
  parseToolChoice,
  parseTools,
} from '../../../src/daemon/features/inference/formats/responses/parse.ts';
import type { Inference, InputItem } from '../../../src/daemon/features/upstreams/neutral.ts';
import type { Decoder } from '../../../src/daemon/upstream/adapter.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { readConversation } from '../../../src/daemon/upstream/simulator/conversation.ts';
import type { CountedWork } from '../../support/counted-thread.ts';
import { callOf, chunkOf, sse, summary } from './upstream-fixture.ts';

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };
const makeCallId = () => 'call_1';
export const writers = {
  'a chat provider': (inference: Inference) => chatAdapter(settings).request(callOf(inference)),
  'a Responses provider': (inference: Inference) => responsesAdapter(settings).request(callOf(inference)),
  Anthropic: (inference: Inference) => anthropicAdapter(settings).request(callOf(inference)),
  Google: (inference: Inference) => googleAdapter(settings, { makeCallId }).request(callOf(inference)),
  'the simulator': (inference: Inference) => readConversation(inference),
};

export const ask: InputItem = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Go.' }] };
const callsOf = (size: number, id: (index: number) => string): InputItem[] =>
  Array.from({ length: size }, (_, index) => ({
    type: 'function_call',
    callId: id(index),
    name: 'f',
    arguments: '{}',
  }));
const outputsOf = (size: number, id: (index: number) => string): InputItem[] =>
  Array.from({ length: size }, (_, index) => ({
    type: 'function_call_output',
    callId: id(index),
    output: [],
  }));

const unique = (index: number) => `call_${index}`;
const same = () => 'call_0';
export const histories = {
  'parallel calls': (size: number) => [ask, ...callsOf(size, unique), ...outputsOf(size, unique)],
  'calls that all have one id': (size: number) => {
    const [output] = outputsOf(1, same) as [InputItem];
    return [ask, ...callsOf(size, same).flatMap((call) => [call, output])];
  },
};

const written = Object.entries(writers).flatMap(([writer, write]) =>
  Object.entries(histories).map(([history, itemsOf]): [string, CountedWork] => [
    `${history} for ${writer}`,
    (size) => {
      const { inference } = callOf({ wire: 'responses', items: itemsOf(size) });
      return () => {
        write({ ...inference, wire: 'responses' });
      };
    },
  ]),
);

const decoded = (decoder: Decoder, bytes: Uint8Array) => () => summary(decoder.push(bytes).events);

export const works: Record<string, CountedWork> = {
  ...Object.fromEntries(written),
  'a choice among tools': (size) => {
    const named = Array.from({ length: size }, (_, index) => ({ type: 'function', name: `f${index}` }));
    return () => parseToolChoice({ type: 'allowed_tools', mode: 'auto', tools: named }, parseTools(named));
  },
  'items that no event started': (size) => {
    const output = Array.from({ length: size }, (_, at) => ({
      type: 'reasoning',
      id: `rs_${at}`,
      summary: [],
    }));
    const bytes = sse({ type: 'response.completed', response: { status: 'completed', output } });
    const read = decoded(responsesAdapter(settings).decoder(callOf({ wire: 'chat' })), bytes);
    return () => read().done.length;
  },
  'calls with ids and no index': (size) => {
    const calls = Array.from({ length: size }, (_, at) => ({
      id: `call_${at}`,
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    }));
    const bytes = sse(chunkOf({ tool_calls: calls }), chunkOf({}, { finish: 'tool_calls' }), '[DONE]');
    const read = decoded(chatAdapter(settings).decoder(callOf({ wire: 'responses' })), bytes);
    return () => read().calls.length;
  },
};
