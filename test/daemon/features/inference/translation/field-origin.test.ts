import { expect, test } from 'vitest';
import { parseInput } from '../../../../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { FieldOrigins } from '../../../../../src/daemon/features/inference/translation/field-origin.ts';
import type { InputItem } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { chatAdapter } from '../../../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { upstreamCall } from '../../../../support/upstream-call.ts';

/** It joins no messages. */
const provider = chatAdapter({ name: 'openrouter', baseUrl: 'http://127.0.0.1' });
const summary: InputItem = {
  type: 'message',
  role: 'user',
  content: [{ type: 'text', text: 'Notes.' }],
  isSummary: true,
};

/** Where the messages of a chat provider come from when a call with this input was sent with these items. */
function originsOf(input: unknown[], itemsOf: (own: InputItem[]) => InputItem[]) {
  const items = itemsOf(parseInput(input, () => undefined));
  const call = upstreamCall('any/model', { items, body: { input } });
  const origins = new FieldOrigins(call.inference, (inference) =>
    JSON.parse(provider.request({ ...call, inference }).body),
  );
  return items.map((_, at) => origins.of(`messages[${at}].content`));
}

const developer = { role: 'developer', content: 'Be brief.' };
const user = { role: 'user', content: 'Go on.' };

test('items of earlier responses have no place in the caller’s input', () => {
  const earlier = parseInput([user, { role: 'assistant', content: 'Yes?' }], () => undefined);
  const places = originsOf([developer, user], (own) => [...earlier, ...own]);
  expect(places).toEqual([undefined, undefined, 'input[0].content', 'input[1].content']);
});

test('a summary in place of earlier messages is not taken for one of the caller’s', () => {
  expect(originsOf([user, user], ([_first, last]) => [summary, last as InputItem])).toEqual([
    undefined,
    'input[1].content',
  ]);
  const places = originsOf([developer, user], (own) => [...own, summary]);
  expect(places).toEqual([undefined, undefined, undefined]);
});
