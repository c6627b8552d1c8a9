import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formats } from '../../src/daemon/http/validation/input-check.ts';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { standalone } from '../../src/shared/contract/schema.ts';
import { sender } from '../support/answer-checks.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { documentedPath, endpoints } from '../support/endpoints.ts';
import { exampleOf, placeholderIds, requestOf } from '../support/example-calls.ts';
import { validBody } from '../support/valid-bodies.ts';

/** The published schemas and the daemon agree on which bodies are valid. */

let place: DaemonWithStranger;
let ask: ReturnType<typeof sender>['ask'];
let close: () => void;
const ajv = new Ajv2020({ strict: false, formats });

beforeAll(async () => {
  place = await startWithStranger();
  ({ ask, close } = sender(place.daemon));
  const description = await (await place.daemon.fetch('/v1/openapi.json')).json();
  ajv.addSchema(description as object, 'openapi.json');
});

afterAll(async () => {
  close();
  await place.daemon.stop();
});

/** Why bodies may be refused that fit their schema: what JSON Schema cannot express, or a body alone does not show. */
const reasons: readonly RegExp[] = [
  // The state of the service, and the time.
  /belongs to another|overlaps another|must be in the future|must be a time, like/,
  /balance exceed|at most \$4,000,000|not your address|whisper yourself|is `archived`/,
  /`key` must be given again|with http, others|private network|is not allowed|`default_model`/,
  // The change of a schedule that is not there.
  /`schedule\.\w+` is missing/,
  // Texts with a checksum, and files.
  /is not a Lightning invoice|BIP 39|The phrase has|checksum|GGUF|`secret` must be|A key for \w+ (starts|has|is)/,
  // The names of settings, and what each may be.
  /is not a setting\.$|no provider or upstream/,
  // Cron expressions, and time zones that the host knows.
  /cron expression|IANA time zone|never comes/,
  // What the chosen model or provider supports.
  /providers? (of|with)|is a chat model|simulator's vectors|needs a model|are not supported|Extra inputs/,
  // Rules between members, and on the order of messages.
  /must be different|`value` must be (a tag|one line|left out|the id|the name|a filter)|`value` must have at most 128|for a filter of calls|There is no tool named|needs `tools`|budget|fallbacks|[Tt]hreads? take|in a thread/,
  /must be a multiple of|must be left out for|cannot be (a filter of|combined with)|`threshold` must be|needs a web hook/,
  /must be the id of a key|must be an https URL/,
  /nothing to compact|a thread or a response|different threads|`maxUses`|must be 1 with|must be unique|must not be empty/,
];

/** The sentence of an error in any of the formats. */
function sentenceOf(text: string): string {
  const { error, errors } = JSON.parse(text) as { error?: { message: string }; errors?: object };
  return error?.message ?? Object.values(errors ?? {}).join(' ');
}

const once = new Set([
  'stopDaemon',
  'rotateVault',
  'unlockVault',
  'deleteProfile',
  'createAgent',
  'createSession',
]);

const withBodies = endpoints.filter(({ id, body }) => body !== undefined && !once.has(id));

const usual = {
  model: ['sim/echo', 'sim/assistant'],
  input: ['Hello.', [{ role: 'user', content: 'Hello.' }]],
  messages: [[{ role: 'user', content: 'Hello.' }]],
  system: ['Be short.'],
  content: ['Hello.'],
  type: ['message', 'function', 'custom', 'function_call', 'function_call_output', 'text', 'json_schema'],
  role: ['user', 'assistant', 'system', 'tool'],
  workspace: ['me'],
  cron: ['0 8 * * *', '@daily'],
  timeZone: ['UTC', 'Europe/Rome'],
  jsonrpc: ['2.0'],
};

/** The validator of the body in the API's description. */
function bodyCheck(endpoint: Endpoint) {
  const pointer = [
    ...['paths', documentedPath(endpoint), endpoint.method.toLowerCase()],
    ...['requestBody', 'content', 'application/json', 'schema'],
  ].map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
  return ajv.compile({ $ref: `openapi.json#/${pointer.join('/')}` });
}

/** `FUZZ_RUNS` multiplies them, and `FUZZ_SEED` draws others. */
const sampling = {
  numRuns: 40 * Number(process.env.FUZZ_RUNS ?? 1),
  seed: Number(process.env.FUZZ_SEED ?? 7),
};

test.each(withBodies.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s accepts the bodies that its published schema allows, and no others',
  async (_id, endpoint) => {
    const ids = { ...placeholderIds, ...(await place.createExamples(place.daemon.key, endpoint)) };
    const { path } = requestOf(endpoint, exampleOf(endpoint, ids));
    const fits = bodyCheck(endpoint);
    const disagreements: string[] = [];
    for (const body of fc.sample(validBody(standalone(endpoint.body), usual), sampling)) {
      const text = JSON.stringify(body);
      const isAllowed = fits(JSON.parse(text));
      const answer = await ask({ method: endpoint.method, path, body: text });
      expect([answer.status === 500, text]).toEqual([false, text]);
      const isRefused = answer.status === 400 || answer.status === 422;
      const isExplained = isRefused && reasons.some((reason) => reason.test(sentenceOf(answer.text)));
      const agrees = isAllowed ? !isRefused || isExplained : answer.status !== 200;
      if (!agrees) disagreements.push(`${answer.status} ${answer.text} for ${text}`);
    }
    expect(disagreements).toEqual([]);
  },
);
