import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMessages } from '../../../../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessageItems } from '../../../../../src/daemon/features/inference/formats/messages/parse-messages.ts';
import { parseInput } from '../../../../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { FieldOrigins } from '../../../../../src/daemon/features/inference/translation/field-origin.ts';
import type { InputItem, Wire } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { Adapter } from '../../../../../src/daemon/upstream/adapter.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { upstreamCall } from '../../../../support/upstream-call.ts';

type Json = Record<string, unknown>;
type Path = (string | number)[];

/** One thing that is said, done or seen in a conversation. */
const turn = fc.record({
  by: fc.constantFrom('user', 'assistant', 'call', 'system'),
  /** Blank texts are dropped on the way. */
  isBlank: fc.boolean(),
  inParts: fc.boolean(),
  picture: fc.boolean(),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

/** A conversation in each format. Every text is unlike the others: `w0w`, `w1w` and so on. */
class Writer {
  #words = 0;
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  list(turns: readonly Turn[]): Json[] {
    return turns.flatMap((each, at) => (each.by === 'call' ? this.#call(at) : [this.#message(each)]));
  }

  #word(): string {
    return `w${this.#words++}w`;
  }

  #text(text = this.#word()): Json {
    return { type: this.#wire === 'responses' ? 'input_text' : 'text', text };
  }

  #picture(): Json {
    const url = `https://example.com/${this.#word()}.png`;
    if (this.#wire === 'responses') return { type: 'input_image', image_url: url };
    if (this.#wire === 'chat') return { type: 'image_url', image_url: { url } };
    return { type: 'image', source: { type: 'url', url } };
  }

  #message({ by, isBlank, inParts, picture }: Turn): Json {
    const role = by === 'system' && this.#wire === 'messages' ? 'user' : by;
    const first = isBlank ? ' ' : this.#word();
    if (!inParts) return { role, content: first };
    return {
      role,
      content: [this.#text(first), ...(picture && role === 'user' ? [this.#picture()] : []), this.#text()],
    };
  }

  #call(at: number): Json[] {
    const id = `call_${at}`;
    const [city, output] = [this.#word(), this.#word()];
    if (this.#wire === 'responses') {
      return [
        { type: 'function_call', call_id: id, name: 'weather', arguments: JSON.stringify({ city }) },
        { type: 'function_call_output', call_id: id, output },
      ];
    }
    if (this.#wire === 'chat') {
      const called = { name: 'weather', arguments: JSON.stringify({ city }) };
      return [
        { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] },
        { role: 'tool', tool_call_id: id, content: output },
      ];
    }
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'weather', input: { city } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }, this.#text()] },
    ];
  }
}

const parsers: Record<Wire, (list: Json[]) => InputItem[]> = {
  responses: (list) => parseInput(list, () => undefined),
  chat: (list) => parseMessages(list, () => undefined),
  messages: (list) =>
    parseMessageItems(list as unknown as Parameters<typeof parseMessageItems>[0], () => undefined),
};
const settings = { name: 'any', baseUrl: 'http://127.0.0.1' };
const providers: Record<string, Adapter> = {
  anthropic: anthropicAdapter(settings),
  google: googleAdapter(settings),
  chat: chatAdapter(settings),
  responses: responsesAdapter(settings),
};

function originsOf(wire: Wire, provider: Adapter, turns: readonly Turn[]) {
  const list = new Writer(wire).list(turns);
  const body = { [wire === 'responses' ? 'input' : 'messages']: list };
  const call = upstreamCall('any/model', { wire, items: parsers[wire](list), body });
  const write = (inference: typeof call.inference) =>
    JSON.parse(provider.request({ ...call, inference }).body) as unknown;
  return { body, sent: write(call.inference), origins: new FieldOrigins(call.inference, write) };
}

/** All texts in a value, each with its path. */
function textsIn(value: unknown, path: Path = []): [Path, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    textsIn(each, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

const wordsIn = (value: unknown) => new Set(JSON.stringify(value ?? null).match(/w\d+w/g));
const at = (value: unknown, path: string) =>
  path.match(/\w+/g)?.reduce((within, step) => (within as Json | undefined)?.[step], value);

describe.each(['responses', 'chat', 'messages'] as const)('a conversation in the format %s', (wire) => {
  test.each(Object.entries(providers))(
    'has each text of the request to %s where it is said',
    (_name, provider) => {
      const property = fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), (turns) => {
        const { body, sent, origins } = originsOf(wire, provider, turns);
        for (const [path, text] of textsIn(sent)) {
          const words = wordsIn(text);
          if (words.size === 0) continue;
          const found = origins.of(path.join('.'));
          // Several texts that became one have no common place, unless they are of one message.
          if (found === undefined) expect(words.size).toBeGreaterThan(1);
          else expect([...wordsIn(at(body, found))]).toEqual(expect.arrayContaining([...words]));
        }
      });
      fc.assert(property, { numRuns: 60 });
    },
  );

  test('is searched for any path that a provider may name', () => {
    const steps = fc.constantFrom('messages', 'contents', 'parts', 'content', 'text', 'tools', '__proto__');
    const path = fc.array(fc.oneof(steps, fc.nat(4).map(String), fc.string({ maxLength: 8 })), {
      maxLength: 6,
    });
    const property = fc.property(path, fc.array(turn, { maxLength: 4 }), (names, turns) => {
      const { body, origins } = originsOf(wire, providers.google as Adapter, turns);
      const found = origins.of(names.join('.'));
      if (found !== undefined) expect(at(body, found)).toBeDefined();
    });
    fc.assert(property, { numRuns: 200 });
  });
});
