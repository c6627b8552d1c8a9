import { Type } from 'typebox';
import { listWhispers, sendWhisper } from '../../../../shared/contract/whispers.ts';
import { tool } from '../tool.ts';

export const listWhispersTool = tool({
  name: 'list_whispers',
  title: 'List whispers',
  description:
    'List the private messages that the person behind this connection sent and got, newest first; with `with`, only those with one person. To go on, send `meta.nextCursor` as `before_id`. Reading them does not mark them as read.',
  input: Type.Object(listWhispers.query.properties, { additionalProperties: false }),
  endpoints: [listWhispers],
  isReadOnly: true,
  run: async (query, { ask }) => ({ data: await ask.whole(listWhispers, { query }) }),
});

export const sendWhisperTool = tool({
  name: 'send_whisper',
  title: 'Send a whisper',
  description:
    'Send a private message of plain text to another person of this host, in the name of the person behind this connection. Name exactly one of `recipientHandle` and `recipientId`. It cannot be taken back.',
  input: sendWhisper.body,
  endpoints: [sendWhisper],
  isReadOnly: false,
  run: async (body, { ask }) => ({ data: await ask.whole(sendWhisper, { body }) }),
});
