import type { ExitCode } from '../shared/errors.ts';
import { asTyped } from './as-typed.ts';
import type { Context } from './context.ts';
import { explain } from './failure.ts';
import { visible } from './output/visible.ts';

/** Tells a failure on stderr: the sentence, then where, then what to do next. Returns the exit code for it. */
export function tellFailure(error: unknown, context: Context): ExitCode {
  const { exit, sentence, details } = explain(error, { isLocal: isLocal(context) });
  const { stderr } = context.io;
  const safe = stderr.isTty ? visible : (text: string) => text;
  const paint = context.out.paint.stderr;
  stderr.write(`${paint('red', 'error:')} ${safe(sentence)}\n`);
  for (const [name, text] of details) {
    const told = name === 'next' ? asTyped(text, context.env) : text;
    stderr.write(`  ${paint('dim', name.padEnd(7))} ${safe(told)}\n`);
  }
  return exit;
}

function isLocal(context: Context): boolean {
  try {
    return context.host().isLocal;
  } catch {
    return false;
  }
}
