import { Type } from 'typebox';
import { StrictObject } from '../../../../shared/contract/vocabulary.ts';
import { listWhispers, sendWhisper } from '../../../../shared/contract/whispers.ts';
import { tool } from '../tool.ts';

export const listWhispersTool = tool({
  name: 'list_whispers',
  title: 'List whispers',
  description:
    'List the private messages that the user of this connection sent and received, newest first; with `with`, only those with one person. For the next page, send `meta.nextCursor` as `before_id`. Reading them does not mark them as read.',
  input: Type.Object(listWhispers.query.properties, { additionalProperties: false }),
  endpoints: [listWhispers],
  isReadOnly: true,
  run: async (query, { ask }) => ({ data: await ask.whole(listWhispers, { query }) }),
});

export const sendWhisperTool = tool({
  name: 'send_whisper',
  title: 'Send a whisper',
  description:
    'Send a private plain-text message to another user of this host, on behalf of the user of this connection. Provide exactly one of `recipientHandle` and `recipientId`. It cannot be unsent.',
  // Model providers reject tools whose parameters have `oneOf` at the root; the endpoint checks it.
  input: StrictObject(sendWhisper.body.properties),
  endpoints: [sendWhisper],
  isReadOnly: false,
  run: async (body, { ask }) => ({ data: await ask.whole(sendWhisper, { body }) }),
});
