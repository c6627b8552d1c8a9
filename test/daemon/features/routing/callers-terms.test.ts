import { expect, test } from 'vitest';
import {
  type CallerFormat,
  fieldFor,
  inCallersTerms,
} from '../../../../src/daemon/features/routing/callers-terms.ts';

const translated: CallerFormat = {
  wire: 'responses',
  isRelayed: false,
  earlierItems: 0,
  outputField: 'max_output_tokens',
};
const plain: CallerFormat = { ...translated, plainInput: { hasInstructions: false } };

test.each<[string, CallerFormat, string, string]>([
  ['an image', plain, 'messages[1].content[0].image_url.url', 'input[1].content[0].image_url'],
  ['a message', plain, 'messages[2]', 'input[2]'],
  [
    'a message after the instructions',
    { ...plain, plainInput: { hasInstructions: true } },
    'messages[1].content[0]',
    'input[0].content[0]',
  ],
  [
    'the instructions',
    { ...plain, plainInput: { hasInstructions: true } },
    'messages[0].content',
    'instructions',
  ],
  ['a message after earlier ones', { ...plain, earlierItems: 2 }, 'messages[3].content', 'input[1].content'],
  ['an earlier message', { ...plain, earlierItems: 2 }, 'messages[1].content', 'input'],
  ['a message among calls, which are merged', translated, 'messages[1].content[0]', 'input'],
])('the path of %s in the caller’s request', (_what, caller, field, expected) => {
  expect(fieldFor(caller, field)).toBe(expected);
  expect(inCallersTerms(caller, `Invalid value in ${field}, says the provider.`)).toBe(
    `Invalid value in ${expected}, says the provider.`,
  );
});
