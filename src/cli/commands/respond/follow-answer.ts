import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { SseEvent } from '../../../shared/sse.ts';
import { CliError, CutShort } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { callsOfResponse, textOfResponse } from './answer-text.ts';
import type { Progress } from './progress.ts';

/** What is known of a call so far. */
export interface Following {
  requestId: string | undefined;
  /** The request that was answered and charged, where its answer is given again. */
  replayOf?: string | undefined;
  /** The response as its last event told it. */
  response: ResponseResource | undefined;
  error: object | undefined;
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

/** One event of the stream, of which only these members are read. */
interface AnswerEvent {
  type: string;
  delta?: unknown;
  request_id?: string;
  model?: string;
  provider?: string;
  response?: ResponseResource;
  error?: object;
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
      note(event, following);
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

function note(event: AnswerEvent, following: Following): void {
  if (event.type === 'service:route') following.requestId ??= event.request_id;
  if (event.type === 'error') following.error = event.error;
  if (/^response\.(completed|incomplete|failed)$/.test(event.type)) following.response = event.response;
}

function isText(event: AnswerEvent): event is AnswerEvent & { delta: string } {
  const carriesText = event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta';
  return carriesText && typeof event.delta === 'string';
}

function brokenOff({ requestId }: Following): CliError {
  return new CliError('The answer broke off before its end.', {
    exit: exitCodes.tryLater,
    next: requestId ? `Try again. What it cost: gateway usage ${requestId}` : 'Try again.',
  });
}
