import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs';
import type { CreateDecision, Decision } from '../../../shared/contract/decisions.ts';
import { createDecision } from '../../../shared/endpoints.ts';
import { ApiError, exitCodes, failures, isErrorCode } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import { briefRate } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { openToAppend } from './files.ts';
import { bareAnswer } from './show-decision.ts';

export interface BatchOptions {
  body: Omit<CreateDecision, 'input'>;
  order: 'peer' | 'hosted' | undefined;
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
  if (io.stdin.isTty) throw usageError('There is no input.', 'Pipe in one text per line.');
  const { done, append } = options.output === undefined ? { done: [] } : openOutput(options.output);
  const signal = context.interrupted();
  const run = randomUUID();
  const waiting: Promise<LineResult>[] = [];
  const counts = { done: 0, failed: done.filter(({ error }) => error).length };
  const showProgress = progressLine(context, counts, done.length);
  const finishFirst = async () => {
    const first = waiting.shift();
    if (first === undefined) return;
    const result = await first;
    if (result.error && out.isQuiet()) out.warn(`Line ${result.line}: ${result.error.message}`);
    if (append) append(`${JSON.stringify(result)}\n`);
    else if (out.isQuiet()) out.text(`${(result.answers ?? []).map(bareAnswer).join('\t')}\n`);
    else await out.element(result);
    counts.done += 1;
    if (result.error) counts.failed += 1;
    showProgress();
  };
  let line = 0;
  let count = 0;
  try {
    for await (const text of io.stdin.lines()) {
      line += 1;
      if (options.format === 'ndjson' && text.trim() === '') continue;
      const known = done[count];
      count += 1;
      const { input, id } = inputIn(text, options.format) ?? {};
      // The first one shows what the input is; later ones are no reason to lose the others.
      if (input === undefined && count === 1)
        throw usageError(withoutInput(line), 'Use --lines for plain text.');
      const digest = digestOf(options, input ?? text);
      if (known) {
        if (known.digest === digest) continue;
        const other = `${options.output} has results of other inputs or questions, from line ${line} on.`;
        throw usageError(other, 'Use another --output, or remove that file.');
      }
      if (signal.aborted) break;
      const asked = { line, digest, id, run, isFirst: count === 1 };
      waiting.push(
        input === undefined
          ? Promise.resolve({ line, digest, error: { code: 'invalid_request', message: withoutInput(line) } })
          : decideOne(context, options, { ...asked, input }, signal),
      );
      if (waiting.length >= options.concurrency) await finishFirst();
    }
    while (waiting.length > 0) await finishFirst();
  } finally {
    showProgress('end');
    for (const rest of waiting) rest.catch(() => {});
  }
  out.note(`${count} lines, ${counts.failed} failed${done.length > 0 ? `, ${done.length} done before` : ''}`);
  if (counts.failed > 0) context.exit = exitCodes.partlyDone;
}

interface Line {
  line: number;
  digest: string;
  input: CreateDecision['input'];
  id: unknown;
  isFirst: boolean;
  /** Differs by run, as decisions may differ later. */
  run: string;
}

async function decideOne(
  context: Context,
  { body, order }: BatchOptions,
  { line, digest, input, id, run, isFirst }: Line,
  signal: AbortSignal,
): Promise<LineResult> {
  const common = { line, digest, ...(id !== undefined && { id }) };
  const headers = { 'Idempotency-Key': `${run}-${digest}`, ...(order && { 'X-Decision-Order': order }) };
  // Without a decision to repeat, every line would fail in the same way.
  let endsBatch = false;
  const isLast = (error: ApiError, tries: number) => {
    endsBatch = isFirst && tries === 1 && isHopeless(error);
    return endsBatch;
  };
  try {
    const asked = { headers, body: { ...body, input } };
    const { model, answers } = await decidePatiently(context, asked, signal, isLast);
    return { ...common, model, answers };
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError) || endsBatch) throw error;
    return { ...common, error: { code: error.reportedCode, message: error.message } };
  }
}

/** Asks again after what may pass, unless `isLast`; an answer of a lost connection is found again by the key in the headers. */
export async function decidePatiently(
  context: Context,
  asked: { headers: Record<string, string>; body: CreateDecision },
  signal: AbortSignal,
  isLast: (error: ApiError, tries: number) => boolean = () => false,
): Promise<Decision> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await context.client().call(createDecision, asked, { signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError) || isLast(error, tries)) throw error;
      const { code, retryAfterSeconds = 1 } = error;
      if (tries === triesMax || failures[code].retry !== 'after-waiting') throw error;
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

/** Undefined for a line without an input. */
function inputIn(text: string, format: BatchOptions['format']): Pick<Line, 'input' | 'id'> | undefined {
  if (format === 'lines') return { input: text, id: undefined };
  try {
    const { input, id } = JSON.parse(text) as { input?: CreateDecision['input']; id?: unknown };
    if (typeof input === 'string' || Array.isArray(input)) return { input, id };
  } catch {}
  return undefined;
}

const withoutInput = (line: number) =>
  `Line ${line} of the input is not a JSON object with a member \`input\`.`;

/** 64 hexadecimal digits. */
function digestOf({ body, order }: BatchOptions, input: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([body, input, ...(order ? [order] : [])]))
    .digest('hex');
}

/**
 * The complete lines of an earlier run; one that was cut off is removed. Fails for a file that has anything else, which is left as it is. What is
 * no file, such as a pipe, has none.
 */
function doneIn(file: string): LineResult[] {
  if (sizeOf(file) === undefined) return [];
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf('\n') + 1;
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1).map(resultIn);
  const rest = bytes.toString('utf8', end);
  const begin = '{"line":';
  const isCutOff = rest.startsWith(begin) || begin.startsWith(rest);
  if (!isCutOff || lines.includes(undefined))
    throw usageError(`${file} has other content than results.`, 'Use another --output.');
  if (rest !== '') truncateSync(file, end);
  return lines as LineResult[];
}

function resultIn(text: string): LineResult | undefined {
  try {
    const result: unknown = JSON.parse(text);
    if (isObject(result) && typeof result.line === 'number' && typeof result.digest === 'string')
      return result as unknown as LineResult;
  } catch {}
  return undefined;
}

/**
 * The results in a file, and how others are appended until another command does so, too: the results of both would be mixed. Fails for
 * what cannot be written.
 */
function openOutput(file: string): { done: LineResult[]; append: (text: string) => void } {
  const handle = openToAppend(file, 'The results');
  const done = doneIn(file);
  let bytes = sizeOf(file);
  const append = (text: string) => {
    const found = sizeOf(file);
    if (found !== undefined && found !== bytes) {
      throw new CliError(`${file} was changed by another command meanwhile.`, {
        exit: exitCodes.failed,
        next: 'Wait for it to finish, then run this again, or use another --output.',
      });
    }
    appendFileSync(handle, text);
    bytes = (found ?? 0) + Buffer.byteLength(text);
  };
  return { done, append };
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
