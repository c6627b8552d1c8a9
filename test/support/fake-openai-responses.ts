import { argumentsOf, callIdOf, defaultUsage, type FakeAnswer, piecesOf } from './fake-openai-script.ts';

type Json = Record<string, unknown>;

/** The prefix of the fake's encrypted reasoning, which is checked when it is sent back. */
export const sealedPrefix = 'sealed-by-fake:';

function itemsOf(answer: FakeAnswer, body: Json): Json[] {
  const items: Json[] = [];
  if (answer.reasoning !== undefined) {
    const include = Array.isArray(body.include) ? body.include : [];
    items.push({
      id: 'rs_fake0',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: answer.reasoning }],
      ...(include.includes('reasoning.encrypted_content') && {
        encrypted_content: `${sealedPrefix}${Buffer.from(answer.reasoning).toString('base64')}`,
      }),
    });
  }
  const text = piecesOf(answer, body).join('');
  const part =
    answer.refusal === undefined
      ? { type: 'output_text', text, annotations: [], logprobs: [] }
      : { type: 'refusal', refusal: answer.refusal };
  if (text !== '' || answer.refusal !== undefined || !answer.calls) {
    items.push({ id: 'msg_fake0', type: 'message', status: 'completed', role: 'assistant', content: [part] });
  }
  for (const [index, call] of (answer.calls ?? []).entries()) {
    items.push({
      id: `fc_fake${index}`,
      type: 'function_call',
      status: 'completed',
      call_id: callIdOf(call, index),
      name: call.name,
      arguments: argumentsOf(call),
    });
  }
  const last = items.at(-1);
  if (endStatus(answer) === 'incomplete' && last?.status) last.status = 'incomplete';
  return items;
}

function resource(answer: FakeAnswer, body: Json, state: { status: string; output: Json[] }): Json {
  const isOver = state.status !== 'in_progress';
  const { finish = 'stop' } = answer;
  const usage = answer.usage === 'none' ? undefined : (answer.usage ?? defaultUsage);
  const incomplete = finish === 'length' ? 'max_output_tokens' : finish;
  return {
    id: 'resp_fake',
    object: 'response',
    created_at: 1_795_000_000,
    completed_at: isOver ? 1_795_000_001 : null,
    status: state.status,
    background: false,
    error: null,
    incomplete_details: isOver && finish !== 'stop' ? { reason: incomplete } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model: body.model,
    output: state.output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage:
      isOver && usage
        ? {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached ?? 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
            total_tokens: usage.input + usage.output,
          }
        : null,
    metadata: body.metadata ?? {},
    ...(isOver && answer.members),
  };
}

function endStatus({ finish = 'stop' }: FakeAnswer): string {
  return finish === 'stop' ? 'completed' : 'incomplete';
}

/** A whole response object. */
export function responsesDocument(answer: FakeAnswer, body: Json): Json {
  return resource(answer, body, { status: endStatus(answer), output: itemsOf(answer, body) });
}

/** The events of a Responses stream, in order. */
export function responsesEvents(answer: FakeAnswer, body: Json): Json[] {
  const events: Json[] = [];
  const push = (type: string, more: Json) => events.push({ type, sequence_number: events.length, ...more });
  const started = resource(answer, body, { status: 'in_progress', output: [] });
  push('response.created', { response: started });
  push('response.in_progress', { response: started });
  const items = itemsOf(answer, body);
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === 'reasoning') reasoningEvents(item, at, push);
    else if (item.type === 'function_call') callEvents(item, at, push);
    else messageEvents(item, { at, pieces: piecesOf(answer, body) }, push);
    push('response.output_item.done', { output_index, item });
  });
  const status = endStatus(answer);
  push(`response.${status}`, { response: resource(answer, body, { status, output: items }) });
  return events;
}

type Push = (type: string, more: Json) => void;

function reasoningEvents(item: Json, at: Json, push: Push): void {
  const [part] = item.summary as { text: string }[];
  const text = part?.text ?? '';
  push('response.output_item.added', { output_index: at.output_index, item: { ...item, summary: [] } });
  push('response.reasoning_summary_part.added', {
    ...at,
    summary_index: 0,
    part: { type: 'summary_text', text: '' },
  });
  for (const delta of text.match(/\s*\S+\s*/g) ?? []) {
    push('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta });
  }
  push('response.reasoning_summary_text.done', { ...at, summary_index: 0, text });
  push('response.reasoning_summary_part.done', { ...at, summary_index: 0, part });
}

function callEvents(item: Json, at: Json, push: Push): void {
  const text = String(item.arguments);
  push('response.output_item.added', {
    output_index: at.output_index,
    item: { ...item, status: 'in_progress', arguments: '' },
  });
  const half = Math.ceil(text.length / 2);
  for (const delta of [text.slice(0, half), text.slice(half)]) {
    if (delta !== '') push('response.function_call_arguments.delta', { ...at, delta });
  }
  push('response.function_call_arguments.done', { ...at, arguments: text });
}

function messageEvents(item: Json, { at, pieces }: { at: Json; pieces: string[] }, push: Push): void {
  const [part] = item.content as Json[];
  const where = { ...at, content_index: 0 };
  push('response.output_item.added', {
    output_index: at.output_index,
    item: { ...item, status: 'in_progress', content: [] },
  });
  if (part?.type === 'refusal') {
    push('response.content_part.added', { ...where, part: { type: 'refusal', refusal: '' } });
    push('response.refusal.delta', { ...where, delta: part.refusal });
    push('response.refusal.done', { ...where, refusal: part.refusal });
  } else {
    push('response.content_part.added', {
      ...where,
      part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    });
    for (const delta of pieces) push('response.output_text.delta', { ...where, delta, logprobs: [] });
    push('response.output_text.done', { ...where, text: part?.text, logprobs: [] });
  }
  push('response.content_part.done', { ...where, part });
}
