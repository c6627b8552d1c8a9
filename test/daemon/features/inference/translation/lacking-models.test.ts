import { beforeAll, describe, expect, test } from 'vitest';
import {
  Catalog,
  type ProviderDescription,
  type Resolution,
} from '../../../../../src/daemon/features/catalog/index.ts';
import { parseChat } from '../../../../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessagesCall } from '../../../../../src/daemon/features/inference/formats/messages/parse.ts';
import { parseResponses } from '../../../../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../../../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { translatingUpstreams } from '../../../../../src/daemon/features/inference/translation/translating-upstreams.ts';
import { requirementsOf } from '../../../../../src/daemon/features/routing/judge-offer.ts';
import type { Wire } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { type Dropped, UpstreamFailure } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { providerApis } from '../../../../../src/daemon/upstream/providers/registry.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { fakeWorld } from '../../../../support/fake-world.ts';
import { planOf, routing } from '../../../../support/routing.ts';

/** Every option that tunes an answer, at every model of the catalog that lacks it, in the three formats. */

type Json = Record<string, unknown>;

const makers = ['openai', 'anthropic', 'google'] as const;
const wires = ['responses', 'chat', 'messages'] as const;
let models: readonly Resolution[] = [];

beforeAll(async () => {
  const providers = makers.map(
    (name): ProviderDescription => ({
      name,
      kind: name,
      available: true,
      reason: null,
      models: undefined,
      wires: providerApis[name].wires,
    }),
  );
  const catalog = new Catalog({ world: { now: () => Date.UTC(2026, 10, 23) }, providers });
  models = (await catalog.all()).filter(({ offers }) => offers[0]?.capabilities.kind !== 'embedding');
});

const text = { role: 'user', content: 'Hi.' };

function parse(wire: Wire, more: Json) {
  const base = { model: 'm', ...more };
  if (wire === 'chat') return parseChat({ messages: [text], ...base } as never, () => undefined);
  if (wire === 'messages')
    return parseMessagesCall({ max_tokens: 8192, messages: [text], ...base } as never, {}, () => undefined);
  const body = { input: [{ type: 'message', ...text }], ...base };
  return parseResponses(
    body as never,
    parseInput(body.input, () => undefined),
  );
}

/** The body that the provider of a model gets, and what is reported as left out. */
async function sentTo(model: Resolution, wire: Wire, more: Json): Promise<{ body: Json; dropped: string[] }> {
  const inference = parse(wire, more);
  const routes = routing().plan(planOf([model], { requirements: requirementsOf(inference, 100) }));
  if (routes instanceof ApiError) throw routes;
  const [route] = routes;
  if (route === undefined) throw new Error('no route');
  const api = providerApis[route.provider as (typeof makers)[number]];
  const own = api.wires?.find((each) => each === wire) ?? api.wires?.[0];
  const adapter = api.adapter({ name: route.provider, baseUrl: 'http://127.0.0.1:1' }, own);
  let body: Json = {};
  async function* batches() {}
  const upstream = {
    name: route.provider,
    async open(call: Parameters<typeof adapter.request>[0]) {
      const request = adapter.request(call);
      body = JSON.parse(request.body) as Json;
      const dropped: readonly Dropped[] = request.dropped ?? [];
      return { kind: 'stream' as const, batches: batches(), dropped };
    },
  };
  const opened = await translatingUpstreams({ get: () => upstream }, fakeWorld())
    .get(route.provider)
    ?.open(
      {
        inference,
        model: route.providerModel,
        abilities: route.offer.capabilities,
        wire: own,
        key: 'k',
        outputTokensMax: undefined,
      },
      new AbortController().signal,
    );
  return { body, dropped: (opened?.dropped ?? []).map(({ param }) => param) };
}

interface Option {
  name: string;
  /** The members of a request in each format, and the one that is reported. */
  asked: Partial<Record<Wire, [Json, reported: string]>>;
  /** Models that refuse it. Source: the makers' model pages. */
  lacking: RegExp;
  /** What the provider must not get. */
  unsent: RegExp;
}

const reasonsOnly = /^openai\/(o\d|gpt-5(-mini|-nano|-pro)?$)/;
const options: Option[] = [
  {
    name: 'effort',
    asked: {
      responses: [{ reasoning: { effort: 'high' } }, 'reasoning.effort'],
      chat: [{ reasoning_effort: 'high' }, 'reasoning_effort'],
      messages: [{ output_config: { effort: 'high' } }, 'output_config.effort'],
    },
    lacking: /^openai\/gpt-(3|4)|^google\/.*-image/,
    unsent: /"reasoning|effort|thinking/,
  },
  {
    name: 'thinking',
    asked: { messages: [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, 'thinking'] },
    lacking: /^openai\/gpt-(3|4)|^google\/.*-image/,
    unsent: /"reasoning|effort|thinking/,
  },
  {
    name: 'temperature',
    asked: {
      responses: [{ temperature: 0.5 }, 'temperature'],
      chat: [{ temperature: 0.5 }, 'temperature'],
      messages: [{ temperature: 0.5 }, 'temperature'],
    },
    lacking: reasonsOnly,
    unsent: /temperature/,
  },
  {
    name: 'top_p',
    asked: {
      responses: [{ top_p: 0.5 }, 'top_p'],
      chat: [{ top_p: 0.5 }, 'top_p'],
      messages: [{ top_p: 0.5 }, 'top_p'],
    },
    lacking: reasonsOnly,
    unsent: /top_p/,
  },
  {
    name: 'log probabilities',
    asked: {
      responses: [{ top_logprobs: 2 }, 'top_logprobs'],
      chat: [{ logprobs: true, top_logprobs: 2 }, 'top_logprobs'],
    },
    lacking: /^openai\/(o\d|gpt-5)|^anthropic/,
    unsent: /logprobs/,
  },
  {
    name: 'penalties',
    asked: {
      responses: [{ presence_penalty: 0.5 }, 'presence_penalty'],
      chat: [{ presence_penalty: 0.5 }, 'presence_penalty'],
    },
    lacking: /^openai\/(o\d|gpt-[56])|^anthropic/,
    unsent: /penalty/,
  },
  {
    name: 'verbosity',
    asked: {
      responses: [{ text: { verbosity: 'low' } }, 'text.verbosity'],
      chat: [{ verbosity: 'low' }, 'verbosity'],
    },
    lacking: /^openai\/(o\d|gpt-(3|4))|^anthropic|^google/,
    unsent: /verbosity/,
  },
];

describe.each(options)('$name', ({ asked, lacking, unsent }) => {
  test.each(wires.filter((wire) => asked[wire]))(
    'in the %s format is left out and reported',
    async (wire) => {
      const [more, param] = asked[wire] ?? [{}, ''];
      const affected = models.filter(({ id }) => lacking.test(id));
      expect(affected.length).toBeGreaterThan(2);
      for (const model of affected) {
        const { body, dropped } = await sentTo(model, wire, more);
        expect([model.id, dropped]).toEqual([model.id, expect.arrayContaining([param])]);
        expect([model.id, JSON.stringify(body)]).toEqual([model.id, expect.not.stringMatching(unsent)]);
      }
    },
  );
});

test('stop sequences in the chat format are not sent where a model has none, and applied to the answer', async () => {
  const affected = models.filter(({ id }) => /^openai\/(o3$|o4|gpt-5)/.test(id));
  expect(affected.length).toBeGreaterThan(2);
  for (const model of affected) {
    const { body, dropped } = await sentTo(model, 'chat', { stop: ['x'] });
    expect([model.id, 'stop' in body, dropped]).toEqual([model.id, false, []]);
  }
});

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const schemaIn: Record<Wire, Json> = {
  responses: { text: { format: { type: 'json_schema', name: 'x', schema } } },
  chat: { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
  messages: { output_config: { format: { type: 'json_schema', schema } } },
};

test.each(wires)('a schema in the %s format becomes an instruction where a model has none', async (wire) => {
  const affected = models.filter(({ offers }) => offers[0]?.capabilities.structuredOutput === false);
  expect(affected.length).toBeGreaterThan(4);
  for (const model of affected) {
    const { body, dropped } = await sentTo(model, wire, schemaIn[wire]);
    expect([model.id, dropped]).toEqual([model.id, []]);
    expect(JSON.stringify(body)).toContain('conforms to this JSON Schema');
    expect(JSON.stringify(body)).not.toMatch(/json_schema|responseJsonSchema/);
  }
});

const data = 'data:image/png;base64,iVBORw0KGgo=';
const imageIn: Record<Wire, [Json, string]> = {
  responses: [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: data }] }] },
    'input[0].content[0]',
  ],
  chat: [
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: data } }] }] },
    'messages[0].content[0]',
  ],
  messages: [
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          ],
        },
      ],
    },
    'messages[0].content[0]',
  ],
};

test.each(wires)('an image in the %s format is refused for models without them, by name', async (wire) => {
  const [more, param] = imageIn[wire];
  const affected = models.filter(({ offers }) => offers[0]?.capabilities.inputModalities?.join() === 'text');
  expect(affected.length).toBeGreaterThan(2);
  for (const model of affected) {
    const refused = await sentTo(model, wire, more).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'unsupported_value',
      status: 400,
      param,
      message: `${model.id} does not accept images: choose a model that does, or send none.`,
    });
  }
});

test('an option that a model turns out to refuse is left out, reported and remembered', async () => {
  const asked: Json[] = [];
  const upstream = {
    name: 'acme',
    async open({ inference }: { inference: { body: Json } }) {
      asked.push(inference.body);
      const refused = ['temperature', 'reasoning_effort'].find((name) => name in inference.body);
      if (refused !== undefined) {
        throw new UpstreamFailure('caller', 'refused', {
          status: 400,
          code: 'unsupported_value',
          param: refused,
          publicMessage: `'${refused}' is not supported with this model.`,
        });
      }
      async function* batches() {}
      return { kind: 'stream' as const, batches: batches() };
    },
  };
  const found = translatingUpstreams({ get: () => upstream as never }, fakeWorld()).get('acme');
  const open = () =>
    found?.open(
      {
        inference: parse('chat', { temperature: 0.5, reasoning_effort: 'high', seed: 7 }),
        model: 'custom',
        wire: 'chat',
        key: 'k',
        outputTokensMax: undefined,
      },
      new AbortController().signal,
    );
  expect((await open())?.dropped?.map(({ param }) => param).sort()).toEqual([
    'reasoning_effort',
    'temperature',
  ]);
  expect(asked).toHaveLength(3);
  expect(asked.at(-1)).toMatchObject({ seed: 7 });
  expect((await open())?.dropped).toHaveLength(2);
  expect(asked).toHaveLength(4);
});
