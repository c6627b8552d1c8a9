import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../failures/cli-error.ts';

/** jq's own exit code for an expression that does not compile. */
const doesNotCompile = 3;

/** Runs a jq expression; strings are printed raw, as with `jq -r`. */
export async function runJq(value: unknown, expression: string): Promise<string> {
  const { stdout, stderr, exitCode } = await (await loadJq()).raw(value as object, expression, ['-r', '-c']);
  if (exitCode !== 0) throw new CliError(`--jq: ${stderr || 'jq failed'}`, { exit: exitCodes.failed });
  return stdout === '' ? '' : `${stdout.replace(/\n$/, '')}\n`;
}

/** Throws if the expression is not valid; called before the command changes anything. */
export async function checkJq(expression: string): Promise<void> {
  const { stderr, exitCode } = await (await loadJq()).raw(null, expression, []);
  if (exitCode === doesNotCompile) {
    throw new CliError(`--jq does not compile: ${stderr}`, { exit: exitCodes.usage });
  }
}

/** Loads jq, compiled to WebAssembly, only when needed. */
function loadJq() {
  return import('jq-wasm');
}
