import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import type { CreateDecision, Decision } from '../../../shared/contract/decisions.ts';
import { createDecision } from '../../../shared/endpoints.ts';
import { ApiError, exitCodes, failures, isErrorCode } from '../../../shared/errors.ts';
import { decodeText } from '../../../shared/text/decode-text.ts';
import { briefRate } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';

export interface BatchOptions {
  body: Omit<CreateDecision, 'input'>;
  format: 'lines' | 'ndjson';
  concurrency: number;
  /** Where results are appended, and from where a stopped batch continues. */
  output: string | undefined;
}

/** A line of the output. */
interface LineResult {
  /** Counted from 1. */
  line: number;
  /** Of the input and what was asked, so that a continued batch notices another input. */
  digest: string;
  /** The member `id` of the input, if it has one. */
  id?: unknown;
  model?: string;
  answers?: Decision['answers'];
  error?: { code: string; message: string };
}

const triesMax = 4;
const retryMsMax = 30_000;

/**
 * Decides about each line of the input, several at a time, and prints results in the order of the lines. Failed lines have an
 * `error`; the exit code is then 7. Stopped by Ctrl-C, everything that was printed is complete.
 */
export async function decideLines(context: Context, options: BatchOptions): Promise<void> {
  const { io, out } = context;
  if (io.stdin.isTty) {
    throw new CliError('There is no input.', { exit: exitCodes.usage, next: 'Pipe in one text per line.' });
  }
  const done = options.output === undefined ? [] : doneIn(options.output);
  const append = options.output === undefined ? undefined : appendTo(options.output);
  const signal = context.interrupted();
  const run = randomUUID();
  const waiting: Promise<LineResult>[] = [];
  const counts = { done: 0, failed: done.filter(({ error }) => error).length };
  const showProgress = progressLine(context, counts, done.length);
  const finishFirst = async () => {
    const first = waiting.shift();
    if (first === undefined) return;
    const result = await first;
    const text = `${JSON.stringify(result)}\n`;
    if (append) append(text);
    else out.text(text);
    counts.done += 1;
    if (result.error) counts.failed += 1;
    showProgress();
  };
  let line = 0;
  try {
    for await (const text of io.stdin.lines()) {
      line += 1;
      const { input, id } = inputIn(text, line, options.format);
      const digest = digestOf(options.body, input);
      const known = done[line - 1];
      if (known) {
        if (known.digest === digest) continue;
        throw new CliError(
          `${options.output} has results of other inputs or questions, from line ${line} on.`,
          {
            exit: exitCodes.usage,
            next: 'Use another --output, or remove that file.',
          },
        );
      }
      if (signal.aborted) break;
      waiting.push(decideOne(context, options.body, { line, digest, input, id, run }, signal));
      if (waiting.length >= options.concurrency) await finishFirst();
    }
    while (waiting.length > 0) await finishFirst();
  } finally {
    showProgress('end');
    for (const rest of waiting) rest.catch(() => {});
  }
  out.note(`${line} lines, ${counts.failed} failed${done.length > 0 ? `, ${done.length} done before` : ''}`);
  if (counts.failed > 0) context.exit = exitCodes.partlyDone;
}

interface Line {
  line: number;
  digest: string;
  input: CreateDecision['input'];
  id: unknown;
  /** Differs by run, as decisions may differ later. */
  run: string;
}

/** Retries what may pass; an answer of a lost connection is found again by the key. */
async function decideOne(
  context: Context,
  body: BatchOptions['body'],
  { line, digest, input, id, run }: Line,
  signal: AbortSignal,
): Promise<LineResult> {
  const common = { line, digest, ...(id !== undefined && { id }) };
  const headers = { 'Idempotency-Key': `${run}-${digest}` };
  for (let tries = 1; ; tries += 1) {
    try {
      const { model, answers } = await context
        .client()
        .call(createDecision, { headers, body: { ...body, input } }, { signal });
      return { ...common, model, answers };
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      const { code, message, retryAfterSeconds = 1 } = error;
      // Without a decision to repeat, every line would fail in the same way.
      if (line === 1 && tries === 1 && isHopeless(error)) throw error;
      if (tries === triesMax || failures[code].retry !== 'after-waiting') {
        return { ...common, error: { code: error.reportedCode, message } };
      }
      await context.sleep(Math.min(retryMsMax, retryAfterSeconds * 1000 * tries), signal);
    }
  }
}

function isHopeless({ code, status }: ApiError): boolean {
  return (
    status === 401 ||
    status === 403 ||
    code === 'model_not_found' ||
    (isErrorCode(code) && code === 'unavailable')
  );
}

function inputIn(text: string, line: number, format: BatchOptions['format']): Pick<Line, 'input' | 'id'> {
  if (format === 'lines') return { input: text, id: undefined };
  try {
    const { input, id } = JSON.parse(text) as { input?: CreateDecision['input']; id?: unknown };
    if (typeof input === 'string' || Array.isArray(input)) return { input, id };
  } catch {}
  throw new CliError(`Line ${line} of the input is not a JSON object with a member \`input\`.`, {
    exit: exitCodes.usage,
    next: 'Use --lines for plain text.',
  });
}

/** 64 hexadecimal digits. */
function digestOf(body: BatchOptions['body'], input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([body, input]))
    .digest('hex');
}

/** The complete lines of an earlier run; a line that was cut off is removed. */
function doneIn(file: string): LineResult[] {
  if (!existsSync(file)) return [];
  const text = decodeText(readFileSync(file));
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  try {
    const lines = text.slice(0, end).split('\n').slice(0, -1);
    return lines.map((each) => JSON.parse(each) as LineResult);
  } catch {
    throw new CliError(`${file} has other content than results.`, {
      exit: exitCodes.usage,
      next: 'Use another --output.',
    });
  }
}

/** Appends to a file until another command does so, too: the results of both would be mixed. */
function appendTo(file: string): (text: string) => void {
  let bytes = sizeOf(file);
  return (text) => {
    const found = sizeOf(file);
    if (found !== undefined && found !== bytes) {
      throw new CliError(`${file} was changed by another command meanwhile.`, {
        exit: exitCodes.failed,
        next: 'Wait for it to finish, then run this again, or use another --output.',
      });
    }
    appendFileSync(file, text);
    bytes = (found ?? 0) + Buffer.byteLength(text);
  };
}

/** In bytes; undefined for what is not a file, such as a pipe or a terminal. */
function sizeOf(file: string): number | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  return stat.isFile() ? stat.size : undefined;
}

const clearLine = '\r\u001b[2K';

/** Counts on one line of the terminal. */
function progressLine({ io, out, now }: Context, counts: { done: number; failed: number }, before: number) {
  const startedAt = now();
  const isShown = out.isInteractive() && !out.isQuiet();
  return (end?: 'end') => {
    if (!isShown) return;
    const seconds = (now() - startedAt) / 1000;
    const rate = seconds > 0 ? ` · ${briefRate(counts.done / seconds)}/s` : '';
    const text = `${before + counts.done} decided · ${counts.failed} failed${rate}`;
    io.stderr.write(end ? clearLine : `${clearLine}${text}`);
  };
}
