import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Conversations, faultOf, formats, missingOf, startConversations } from './given-back.ts';
import { shapes } from './given-back-shapes.ts';

/** A draw of the conversations of `given-back.full.test.ts`, which holds them all. */

let conversations: Conversations;

beforeAll(async () => {
  conversations = await startConversations();
});

afterAll(() => conversations.stop());

const conversation = fc.constantFrom(...shapes).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    client: fc.constantFrom(...(shape.clients ?? formats)),
    stream: fc.boolean(),
  }),
);

test('an answer that a client sends back is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ shape, client, stream }) => {
      const body = await conversations.hold(shape, client, stream);
      expect(missingOf(shape, client, body)).toEqual([]);
      expect(faultOf(shape, body)).toBeUndefined();
    }),
    { numRuns: 40 },
  );
});
