import { type Static, Type } from 'typebox';
import type { ResponseResource } from '../../../../shared/contract/response-resource.ts';
import { CreateResponseBody, createResponse } from '../../../../shared/contract/responses.ts';
import { ServiceMember } from '../../../../shared/contract/service-member.ts';
import { responseText } from '../../../../shared/formats/response-text.ts';
import { type SseEvent, SseReader } from '../../../../shared/http/sse.ts';
import { type ToolAnswer, type ToolContext, tool } from '../tool.ts';

const { model, instructions, previous_response_id, max_output_tokens, temperature, store } =
  CreateResponseBody.properties;
const { max_price, fallbacks } = ServiceMember.properties;

const Question = Type.Object(
  {
    model,
    input: Type.String({ minLength: 1, description: 'The user’s message to the model.' }),
    instructions,
    previous_response_id,
    max_output_tokens,
    temperature,
    store,
    max_price,
    fallbacks,
  },
  { additionalProperties: false },
);

/** Limits progress notifications, each of which is a message. */
const noticeEveryMs = 100;

export const respondTool = tool({
  name: 'respond',
  title: 'Ask a model',
  description:
    'Ask another model through this gateway and get its answer as text. The call is metered, charged and limited like any other call of the key. To continue a conversation, send the `id` of the previous answer as `previous_response_id`. Use `list_models` to find models.',
  input: Question,
  endpoints: [createResponse],
  isReadOnly: false,
  async run(question, context) {
    const body = bodyOf(question);
    const { ask, reportProgress } = context;
    if (reportProgress === undefined) return answerOf(await ask.whole(createResponse, { body }));
    const chunks = await ask.chunks(createResponse, { body: { ...body, stream: true } });
    return answerOf(await followed(chunks, { reportProgress, elapsed: context.elapsed }));
  },
});

function bodyOf({
  max_price,
  fallbacks,
  ...body
}: Static<typeof Question>): Static<typeof CreateResponseBody> {
  const service = {
    ...(max_price !== undefined && { max_price }),
    ...(fallbacks !== undefined && { fallbacks }),
  };
  return { ...body, ...(Object.keys(service).length > 0 && { service }) };
}

/** Reads the events to the end, reporting text as progress. */
async function followed(
  chunks: AsyncIterable<string>,
  {
    reportProgress,
    elapsed,
  }: Required<Pick<ToolContext, 'elapsed'>> & { reportProgress: NonNullable<ToolContext['reportProgress']> },
): Promise<ResponseResource> {
  const encoder = new TextEncoder();
  const reader = new SseReader();
  let response: ResponseResource | undefined;
  let fresh = '';
  let characters = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  for await (const chunk of chunks) {
    for (const event of reader.push(encoder.encode(chunk))) {
      const { delta, resource } = partsOf(event);
      fresh += delta;
      response = resource ?? response;
    }
    if (fresh === '' || elapsed() - toldAt < noticeEveryMs) continue;
    characters += fresh.length;
    await reportProgress(fresh, characters);
    fresh = '';
    toldAt = elapsed();
  }
  if (fresh !== '') await reportProgress(fresh, characters + fresh.length);
  if (response === undefined) throw new Error('the stream ended without a response');
  return response;
}

function partsOf({ data }: SseEvent): { delta: string; resource?: ResponseResource } {
  if (data === '[DONE]') return { delta: '' };
  const event = JSON.parse(data) as { type: string; delta?: unknown; response?: ResponseResource };
  const delta = event.type === 'response.output_text.delta' ? String(event.delta ?? '') : '';
  return { delta, ...(event.response && { resource: event.response }) };
}

function answerOf(response: ResponseResource): ToolAnswer {
  const { id, model, status, usage, service, error, incomplete_details } = response;
  const text = responseText(response.output);
  const data = { id, model, status, text, usage, service: service ?? null, error, incomplete_details };
  if (status === 'failed') return { data, text: error?.message ?? 'The model failed.', hasFailed: true };
  return { data, text };
}
