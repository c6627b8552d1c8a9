import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Conversations, faultOf, formats, missingOf, startConversations } from './given-back.ts';
import { shapes } from './given-back-shapes.ts';

/** Whatever an answer contains can be sent back by the client that got it: every shape, client format, whole and streamed. */

let conversations: Conversations;

beforeAll(async () => {
  conversations = await startConversations();
});

afterAll(() => conversations.stop());

describe.each(shapes)('$wire: $name', (shape) => {
  const ways = (shape.clients ?? formats).flatMap((client) => [
    { client, stream: false },
    { client, stream: true },
  ]);

  test.each(ways)('given back by a client of $client, streamed: $stream', async ({ client, stream }) => {
    const body = await conversations.hold(shape, client, stream);
    expect(missingOf(shape, client, body)).toEqual([]);
    expect(faultOf(shape, body)).toBeUndefined();
  });
});
