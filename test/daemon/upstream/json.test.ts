import { describe, expect, test } from 'vitest';
import type { IncomingAnswer } from '../../../src/daemon/base/world.ts';
import { isTooDeep, nestingMax, parseObject } from '../../../src/daemon/upstream/json.ts';
import { listModels } from '../../../src/daemon/upstream/list-models.ts';
import { findLocalServers } from '../../../src/daemon/upstream/local-servers.ts';
import { argumentsObject } from '../../../src/daemon/upstream/providers/conversation.ts';
import { openAi } from '../../../src/daemon/upstream/providers/openai.ts';
import { jsonOrText } from '../../../src/daemon/upstream/recordings/recorder.ts';

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const deep = objects(30_000);

/** A network that answers every call with the same text. */
const saying = (text: string) => (): Promise<IncomingAnswer> => {
  const body = {
    bytes: () => Promise.resolve(Buffer.from(text)),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text);
    },
  };
  return Promise.resolve({ status: 200, headers: {}, body });
};

describe('nesting depth', () => {
  test.each([lists, objects])('is detected exactly at the limit', (of) => {
    expect(isTooDeep(of(nestingMax))).toBe(false);
    expect(isTooDeep(of(nestingMax + 1))).toBe(true);
    expect(isTooDeep(`{"a":${of(nestingMax)}}`)).toBe(true);
  });

  test.each([
    ['brackets in a text', JSON.stringify({ text: lists(5_000) })],
    ['brackets behind quotes in a text', JSON.stringify({ text: `"\\"${lists(5_000)}\\` })],
    ['many brackets side by side', `[${Array(5_000).fill('{"a":[]}').join()}]`],
    ['no JSON at all', '['],
    ['a text without an end', `"${lists(5_000)}`],
  ])('%s is not too deep', (_what, text) => {
    expect(isTooDeep(text)).toBe(false);
  });
});

describe('JSON that is nested too deeply', () => {
  test('is neither an object, nor arguments, nor the JSON of a recording', () => {
    expect(parseObject(deep)).toBeUndefined();
    expect(argumentsObject(deep)).toEqual({ value: deep });
    expect(jsonOrText(deep)).toBe(deep);
  });

  test('is not a list of models', async () => {
    const send = saying(`{"data":[{"id":"m","extra":${deep}}]}`);
    const place = { api: openAi, name: 'openai', baseUrl: 'http://openai.test/v1', key: undefined };
    await expect(listModels(send, place)).rejects.toMatchObject({ kind: 'broken' });
    const places = [{ name: 'ollama', origin: 'http://127.0.0.1:11434' }] as const;
    expect(await findLocalServers(send, { timeoutMs: 1_000, places })).toEqual([]);
  });
});
