import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { responseText } from '../../../shared/formats/response-text.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import type { Context } from '../../context.ts';
import { CliError, CutShort } from '../../failures/cli-error.ts';
import { type AnswerPrinter, answerPrinter } from '../../output/answer-text/answer-printer.ts';
import type { Progress } from './progress.ts';

/** The known facts about a running call. */
export interface Following extends AnswerSoFar {
  /** The original request, if this response is a replay of it. */
  replayOf?: string | undefined;
  /** Whether part of the answer was already printed. */
  hasPrinted?: boolean;
}

/** Wraps a failure as CutShort if part of the answer was printed. */
export function failureOf({ hasPrinted, response }: Following, error: unknown): unknown {
  return hasPrinted || (response && textOfResponse(response) !== '') ? new CutShort(error) : error;
}

/** Flags of commands that print an answer. */
export interface AnswerFlags {
  /** False after `--no-markdown`. */
  markdown?: boolean | undefined;
}

export const plainOption = ['--no-markdown', 'print the answer as it is: do not render Markdown'] as const;

interface FollowOptions extends AnswerFlags {
  events: AsyncIterable<SseEvent>;
  following: Following;
  progress: Progress;
  /** Whether text, or events with --json, are printed as they arrive. */
  isLive: boolean;
}

/** Reads a streamed answer to its end and prints it, either as it arrives or at the end. */
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
  else if (isLive) out.text(callsOfResponse(response));
  else await printResponse(context, response, options);
}

async function read(
  context: Context,
  { events, following, progress, isLive, markdown }: FollowOptions,
): Promise<void> {
  const { out } = context;
  const printer = isLive && !out.wantsJson() ? await printerOf(context, { markdown }) : undefined;
  try {
    for await (const { data } of events) {
      const event = JSON.parse(data) as AnswerEvent;
      noteEvent(event, following);
      progress.see(event);
      if (!isLive) continue;
      following.hasPrinted ||= isText(event);
      if (out.wantsJson()) await out.element(event);
      else if (isText(event)) {
        progress.yieldTo(context.io.stdout);
        printer?.write(event.delta);
      }
    }
  } finally {
    // Also after a failure, so that the next message starts on its own line.
    printer?.end();
  }
}

function printerOf({ io, out }: Context, { markdown }: AnswerFlags): Promise<AnswerPrinter> {
  return answerPrinter(io, { markdown: markdown !== false, paint: out.paint.stdout });
}

/** Prints a response that arrived in one piece: its text, then each function call as a line of JSON. */
export async function printResponse(
  context: Context,
  response: ResponseResource,
  flags: AnswerFlags,
): Promise<void> {
  const printer = await printerOf(context, flags);
  printer.write(responseText(response.output));
  printer.end();
  context.out.text(callsOfResponse(response));
}

function brokenOff({ requestId }: Following): CliError {
  return new CliError('The connection was lost before the end of the answer.', {
    exit: exitCodes.tryLater,
    next: requestId ? `Try again. For the cost of this call: gateway usage ${requestId}` : 'Try again.',
  });
}

/** The members of a streamed event that are read here. */
export interface AnswerEvent {
  type: string;
  delta?: unknown;
  request_id?: string;
  model?: string;
  provider?: string;
  response?: ResponseResource;
  error?: object;
}

/** The known facts about a running answer. */
export interface AnswerSoFar {
  requestId: string | undefined;
  /** From the last event. */
  response: ResponseResource | undefined;
  error: object | undefined;
  /** From the first event. */
  responseId?: string | undefined;
}

/** Records what an event says about the whole answer. */
export function noteEvent(event: AnswerEvent, soFar: AnswerSoFar): void {
  if (event.type === 'service:route') soFar.requestId ??= event.request_id;
  soFar.responseId ??= event.response?.id;
  if (event.type === 'error') soFar.error = event.error;
  if (/^response\.(completed|incomplete|failed)$/.test(event.type)) soFar.response = event.response;
}

/** Whether an event carries a piece of the answer's text. */
export function isText(event: AnswerEvent): event is AnswerEvent & { delta: string } {
  const carriesText = event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta';
  return carriesText && typeof event.delta === 'string';
}

/** The text of a response, then each tool call as a line of JSON. */
export function textOfResponse(response: ResponseResource): string {
  const text = responseText(response.output);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return text + end + callsOfResponse(response);
}

/** Each tool call of a response as a line of JSON. */
export function callsOfResponse(response: ResponseResource): string {
  return response.output
    .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    .map(({ type, call_id, name, namespace, arguments: given, input }) => {
      return `${JSON.stringify({ type, call_id, name, namespace, arguments: given, input })}\n`;
    })
    .join('');
}
