import type { ResponseResource } from '../../../shared/contract/responses.ts';

/** One event of a streamed answer, of which only these members are read. */
export interface AnswerEvent {
  type: string;
  delta?: unknown;
  request_id?: string;
  model?: string;
  provider?: string;
  response?: ResponseResource;
  error?: object;
}

/** What is known of an answer so far. */
export interface AnswerSoFar {
  requestId: string | undefined;
  /** As its last event told it. */
  response: ResponseResource | undefined;
  error: object | undefined;
}

/** Takes what an event tells of the whole answer. */
export function noteEvent(event: AnswerEvent, soFar: AnswerSoFar): void {
  if (event.type === 'service:route') soFar.requestId ??= event.request_id;
  if (event.type === 'error') soFar.error = event.error;
  if (/^response\.(completed|incomplete|failed)$/.test(event.type)) soFar.response = event.response;
}

/** Whether an event carries a piece of what is said. */
export function isText(event: AnswerEvent): event is AnswerEvent & { delta: string } {
  const carriesText = event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta';
  return carriesText && typeof event.delta === 'string';
}
