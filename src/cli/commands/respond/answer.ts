import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { responseText } from '../../../shared/response-text.ts';
import type { SseEvent } from '../../../shared/sse.ts';
import type { Context } from '../../context.ts';
import { CliError, CutShort } from '../../failures/cli-error.ts';
import type { Progress } from './progress.ts';

/** What is known of a call so far. */
export interface Following extends AnswerSoFar {
  /** The request that was answered and charged, where its answer is given again. */
  replayOf?: string | undefined;
  /** Whether some of what the model said was printed as it came. */
  hasSaid?: boolean;
}

/** What a failed answer is told as: after its first words it was cut short. */
export function failureOf({ hasSaid, response }: Following, error: unknown): unknown {
  return hasSaid || (response && textOfResponse(response) !== '') ? new CutShort(error) : error;
}

interface FollowOptions {
  events: AsyncIterable<SseEvent>;
  following: Following;
  progress: Progress;
  /** Whether text, or with --json events, are written as they come. */
  isLive: boolean;
}

/** Reads a streamed answer to its end and shows it: as it comes, or at the end in one piece. */
export async function followAnswer(context: Context, options: FollowOptions): Promise<void> {
  const { following, progress, isLive } = options;
  const { out } = context;
  try {
    await read(context, options);
  } finally {
    progress.stop();
  }
  const { response } = following;
  if (!response && !following.error) throw brokenOff(following);
  if (!response || (isLive && out.wantsJson())) return;
  if (out.wantsJson()) await out.document(response);
  else out.text(isLive ? callsOfResponse(response) : textOfResponse(response));
}

async function read(context: Context, { events, following, progress, isLive }: FollowOptions): Promise<void> {
  const { out } = context;
  let lastCharacter = '\n';
  try {
    for await (const { data } of events) {
      const event = JSON.parse(data) as AnswerEvent;
      noteEvent(event, following);
      progress.see(event);
      if (!isLive) continue;
      following.hasSaid ||= isText(event);
      if (out.wantsJson()) await out.element(event);
      else if (isText(event)) {
        progress.yieldTo(context.io.stdout);
        out.text(event.delta);
        lastCharacter = event.delta.at(-1) ?? lastCharacter;
      }
    }
  } finally {
    // Also where it broke off: what is told next begins on a line of its own.
    if (lastCharacter !== '\n') out.text('\n');
  }
}

function brokenOff({ requestId }: Following): CliError {
  return new CliError('The answer broke off before its end.', {
    exit: exitCodes.tryLater,
    next: requestId ? `Try again. What it cost: gateway usage ${requestId}` : 'Try again.',
  });
}

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

/** What an answer says: its text, then each function call as a line of JSON. */
export function textOfResponse(response: ResponseResource): string {
  const text = responseText(response.output);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return text + end + callsOfResponse(response);
}

/** Each function call of an answer as a line of JSON. */
export function callsOfResponse(response: ResponseResource): string {
  return response.output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id, name, arguments: given }) => {
      return `${JSON.stringify({ type: 'function_call', call_id, name, arguments: given })}\n`;
    })
    .join('');
}
