import { defaultUsage, type FakeAnswer, piecesOf } from './fake-openai-script.ts';

type Json = Record<string, unknown>;

/** The events of an answer in the Messages format. */
export function messagesEvents(answer: FakeAnswer, body: Json): (Json & { type: string })[] {
  const { input_tokens, output_tokens } = usageOf(answer) ?? {};
  const text = piecesOf(answer, body).map((piece) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: piece },
  }));
  const before = input_tokens === undefined ? {} : { usage: { input_tokens, output_tokens: 1 } };
  const after = output_tokens === undefined ? {} : { usage: { input_tokens, output_tokens } };
  return [
    { type: 'message_start', message: { ...envelope(body), content: [], stop_reason: null, ...before } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...text,
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, ...after },
    { type: 'message_stop' },
  ];
}

/** The same as one document. */
export function messagesDocument(answer: FakeAnswer, body: Json): Json {
  const content = [{ type: 'text', text: piecesOf(answer, body).join('') }];
  const usage = usageOf(answer);
  return {
    ...envelope(body),
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...(usage && { usage }),
  };
}

function envelope({ model }: Json): Json {
  return {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
  };
}

function usageOf({ usage = defaultUsage }: FakeAnswer) {
  return usage === 'none' ? undefined : { input_tokens: usage.input, output_tokens: usage.output };
}
