import { expect, test } from 'vitest';
import {
  type MessagesBody,
  validateMessages,
} from '../../../../../../src/daemon/features/inference/formats/messages/validate.ts';

const thinkingWith = (budget_tokens: number) =>
  ({
    model: 'm',
    max_tokens: 2048,
    thinking: { type: 'enabled', budget_tokens },
    messages: [{ role: 'user', content: 'Hi' }],
  }) as MessagesBody;

test.each([2048, 2049])('a budget of %i tokens to think leaves none of 2048 for the answer', (budget) => {
  expect(() => validateMessages(thinkingWith(budget), '')).toThrow('must be less than `max_tokens`');
  // Then the budget covers several answers.
  validateMessages(thinkingWith(budget), 'interleaved-thinking-2025-05-14');
});

test('a budget below the limit of the answer is accepted', () => {
  validateMessages(thinkingWith(2047), '');
});
