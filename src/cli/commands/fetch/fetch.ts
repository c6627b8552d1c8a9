import { existsSync, writeFileSync } from 'node:fs';
import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { whyNotWritten } from '../../failures/file-faults.ts';
import { example, wholeNumber } from '../../options.ts';
import { type BoughtAnswer, Buyer } from './buy.ts';
import { purchases } from './purchases.ts';
import { bytesOf, readRequest } from './web-request.ts';

export const fetchCommand = (context: Context) =>
  new Command('fetch')
    .description(
      'If the server answers 402 with a Lightning invoice (L402, x402 or the Payment scheme), it is paid from your wallet. Tokens are kept for later requests. Repeated after a failure, the command goes on where it was and does not pay again.',
    )
    .argument('<url>', 'an http or https URL')
    .option('-X, --method <method>', 'the request method (default: GET, or POST with --data)')
    .option('-H, --header <header>', '"name: value"; can be repeated', collect)
    .option('-d, --data <text>', 'the body; @FILE reads a file, @- standard input')
    .option('--max-sats <number>', 'pay without asking, up to this amount', wholeNumber({ min: 1 }))
    .option('-y, --yes', 'pay without asking, whatever the request costs')
    .option('--again', 'pay again if the server does not accept the payment that was made')
    .option('-o, --output <file>', 'write the answer to this new file')
    .addHelpText('after', example('gateway fetch https://api.example.com/weather --max-sats 20'))
    .action(async (url, { output, ...flags }) => {
      if (output !== undefined && existsSync(output))
        throw new CliError(`${output} exists already.`, { exit: exitCodes.usage });
      const request = await readRequest(context, url, flags);
      const bought = await new Buyer(context, purchases(context), request, flags).fetch();
      await show(context, bought, output);
    });

function collect(line: string, lines: string[] = []): string[] {
  return [...lines, line];
}

/** Prints the answer, and what is unusual about it. */
async function show(context: Context, bought: BoughtAnswer, file: string | undefined): Promise<void> {
  const { out, io } = context;
  const { answer, paid } = bought;
  const { status, headers } = answer;
  if (paid?.isNew) {
    out.note(`Paid: ${paid.paymentId}.${paid.isKept ? ' The token is kept for later requests.' : ''}`);
  }
  const isText = /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|x-www-form-urlencoded)\b)/i.test(
    headers['content-type'] ?? 'text/plain',
  );
  if (file !== undefined) saveTo(file, await bytesOf(answer.body));
  else if (out.wantsJson()) await out.document(await documentOf(bought));
  else if (!io.stdout.isTty) for await (const chunk of answer.body) io.stdout.write(chunk);
  else if (isText) await printText(context, answer.body);
  else if (paid?.isNew) {
    // It may not be sold twice.
    const saved = `gateway-${paid.paymentId}.bin`;
    saveTo(saved, await bytesOf(answer.body));
    out.warn(`The answer is not text; it was saved as ${saved}.`);
  } else {
    await bytesOf(answer.body, 0);
    out.warn('The answer is not text: save it with --output FILE, or pipe it into a program.');
  }
  bought.complete();
  if (status >= 300) out.warn(`The server answered with status ${status}${whereTo(headers)}.`);
  if (status >= 400) context.exit = status >= 500 || status === 429 ? exitCodes.tryLater : exitCodes.failed;
}

async function documentOf({ answer, paid }: Pick<BoughtAnswer, 'answer' | 'paid'>) {
  const bytes = await bytesOf(answer.body);
  const text = bytes.toString();
  const isText = Buffer.from(text).equals(bytes);
  return {
    status: answer.status,
    headers: answer.headers,
    body: isText ? text : null,
    body_base64: isText ? null : bytes.toString('base64'),
    payment: paid && { id: paid.paymentId, scheme: paid.offer.scheme, new: paid.isNew },
  };
}

function saveTo(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes, { flag: 'wx' });
  } catch (cause) {
    const sentence = whyNotWritten(file, cause as NodeJS.ErrnoException);
    throw new CliError(sentence, { exit: exitCodes.failed, cause });
  }
}

/** Prints text on a terminal as it arrives, and ends its last line. */
async function printText({ out }: Context, body: BoughtAnswer['answer']['body']): Promise<void> {
  const decoder = new TextDecoder();
  let last = '\n';
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    out.text(text);
    last = text.at(-1) ?? last;
  }
  if (last !== '\n') out.text('\n');
}

const whereTo = ({ location }: Record<string, string>) => (location === undefined ? '' : `: ${location}`);
