import { InvalidPathParameter, NotTheService, TooDeep } from '../shared/client.ts';
import { type ErrorCode, type ExitCode, exitCodes, failures } from '../shared/errors.ts';
import { messageOf } from '../shared/faults/message-of.ts';
import { ReceivedError } from '../shared/faults/received-error.ts';
import { versionHeader } from '../shared/version.ts';
import type { CommandIndex, Context } from './context.ts';
import { CliError, CutShort } from './failures/cli-error.ts';
import { inCommandWords, inputFor } from './failures/command-words.ts';
import { localName } from './hosts/host-file.ts';
import { notRunning } from './hosts/hosts.ts';
import { Unreachable } from './hosts/send.ts';
import { escapeControls } from './output/escape-controls.ts';
import { withNpx } from './output/output.ts';

/** A failure in words for the user. */
interface Explanation {
  exit: ExitCode;
  /** The first line, without `error:`. */
  sentence: string;
  /** Further lines, each with a label. */
  details: [label: string, text: string][];
}

export interface ExplainOptions {
  /** Whether the host is this machine's daemon. */
  isLocal: boolean;
  /** The address that commands connect to. */
  url?: string | undefined;
  /** Finds the command to suggest after a 404. */
  commands?: CommandIndex | undefined;
  /** The options and arguments of the command that failed. */
  inputs?: readonly string[] | undefined;
}

/** Explains what went wrong, where, and what to do next. An unexpected failure is reported as a bug, with its stack. */
export function explain(error: unknown, options: ExplainOptions): Explanation {
  if (error instanceof CutShort) return { ...explain(error.failure, options), exit: exitCodes.partlyDone };
  if (error instanceof ReceivedError) return explainReceived(error, options);
  if (error instanceof CliError) return explainCliError(error);
  if (error instanceof TooDeep) return { exit: exitCodes.usage, sentence: error.message, details: [] };
  if (error instanceof Unreachable) {
    if (error.kind === 'refused' && options.isLocal) return explainCliError(notRunning());
    return {
      exit: exitCodes.tryLater,
      sentence: error.message,
      details: [['next', unreachableAdvice[error.kind]]],
    };
  }
  if (error instanceof InvalidPathParameter) {
    const { value, parameter } = error;
    const name = parameter.replaceAll('_', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return {
      exit: exitCodes.usage,
      sentence: value === '' ? `The ${name} is empty.` : `${JSON.stringify(value)} is not a valid ${name}.`,
      details: [],
    };
  }
  if (error instanceof NotTheService) {
    return { exit: exitCodes.failed, sentence: error.message, details: [['next', 'Check the address.']] };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exit: exitCodes.failed,
    sentence: messageOf(error),
    details: [['bug', `This should not happen; please report it with these lines.\n${stack}`]],
  };
}

/** Prints a failure to stderr and returns its exit code. */
export function reportFailure(error: unknown, context: Context): ExitCode {
  const { commands, inputs } = context;
  const host = hostOf(context);
  const options = { isLocal: host?.isLocal ?? false, url: host?.url, commands, inputs };
  const { exit, sentence, details } = explain(error, options);
  const { stderr } = context.io;
  const safe = stderr.isTty ? escapeControls : (text: string) => text;
  const paint = context.out.paint.stderr;
  stderr.write(`${paint('red', 'error:')} ${safe(sentence)}\n`);
  for (const [label, text] of details) {
    const line = label === 'next' ? withNpx(text, context.env) : text;
    stderr.write(`  ${paint('dim', label.padEnd(7))} ${safe(line)}\n`);
  }
  return exit;
}

/** Whether commands connect to the daemon of this machine; false if they cannot connect to any. */
export function isLocalHost(context: Context): boolean {
  return hostOf(context)?.isLocal ?? false;
}

function hostOf(context: Context): ReturnType<Context['host']> | undefined {
  try {
    return context.host();
  } catch {
    return undefined;
  }
}

function explainCliError(error: CliError): Explanation {
  return { exit: error.exit, sentence: error.message, details: error.next ? [['next', error.next]] : [] };
}

function explainReceived(error: ReceivedError, options: ExplainOptions): Explanation {
  if (options.url !== undefined && isOfAnother(error))
    return explain(new NotTheService(options.url), options);
  const details: Explanation['details'] = [];
  if (error.param) details.push(['param', error.param]);
  if (error.sentCode) details.push(['code', error.sentCode]);
  if (error.requestId) details.push(['request', error.requestId]);
  const next = advice(error, options);
  if (next) details.push(['next', next]);
  return {
    exit: isUnrecorded(error) ? exitCodes.failed : failures[error.code].exit,
    sentence: inCommandWords(error.message, options.inputs ?? []),
    details,
  };
}

/** Whether a refusal came from a program that is no gateway. What is temporary may be a proxy's, in front of one. */
function isOfAnother({ status, headers }: ReceivedError): boolean {
  return status < 500 && status !== 429 && headers !== undefined && headers[versionHeader] === undefined;
}

function advice(
  error: ReceivedError,
  { isLocal, commands, inputs = [] }: ExplainOptions,
): string | undefined {
  switch (error.code) {
    case 'unauthenticated':
      if (error.param === 'code') return "Ask the host's admin for a new code: gateway users login-code";
      if (!isLocal) return 'Log in with gateway login URL, or set GATEWAY_KEY to a valid key.';
      return "Set GATEWAY_KEY to a valid key, or unset it to use this machine's own login.";
    case 'signed_out':
      if (!isLocal) return 'Log in with gateway login URL, and leave GATEWAY_KEY unset.';
      return "Run this on the daemon's machine without GATEWAY_KEY, or set GATEWAY_KEY to a login key.";
    case 'out_of_scope':
      return 'Use a key with that scope: gateway keys issue --scope NAME';
    case 'permission':
      if (isLocal || !error.path?.startsWith('/v1/admin/'))
        return 'Ask someone with that permission, or log in as them. Your login: gateway whoami';
      return `To use the daemon on this machine: --host ${localName}`;
    case 'not_an_agent':
      return 'Set GATEWAY_KEY to the key of an agent; to get one: gateway agents sign-up NAME';
    case 'not_found':
      return notFoundAdvice(error, { commands, inputs });
    case 'previous_response_not_found':
      return 'List the stored responses: gateway responses list';
    case 'insufficient_balance':
      if (error.path?.startsWith('/api/payments')) return 'Receive some first: gateway invoice create SATS';
      break;
    case 'conflict':
      // The state is in the way, not the request, and the message says which.
      return undefined;
    case 'limit_reached':
      if (error.param?.startsWith('budgets.'))
        return `To raise it: gateway budgets set ${error.param.slice('budgets.'.length)} AMOUNT`;
      // The message of a rate limit says when to try again.
      if (error.retryAfterSeconds !== undefined) return undefined;
      // What a key was issued for is fixed; its limits are not.
      return error.param?.startsWith('scopes.')
        ? 'Use another key: gateway keys issue'
        : "The key's owner can change its limits: gateway keys limits set KEY";
    case 'model_not_found':
      return 'List the models: gateway models list';
    case 'no_route':
      if (/\bno key: set /.test(error.message))
        return isLocal
          ? 'Set a key where the daemon runs, then restart it; see: gateway status'
          : "Set a key for your workspace: gateway provider-keys set PROVIDER. Or ask the host's admin for one.";
      if (error.param?.startsWith('limits.'))
        return "The key's owner can change its limits: gateway keys limits set KEY";
      if (error.retryAfterSeconds !== undefined) break;
      return 'Choose another model, or leave out what its providers lack: gateway models list';
    case 'unavailable':
      // Waiting does not help when the message names a command to run.
      if (/\bgateway (vault|wallet|engine) /.test(error.message)) return undefined;
      break;
    case 'upstream_failed':
      if (isUnrecorded(error)) return 'Record it: gateway serve --record FOLDER';
      // Waiting helps only where another provider failed for another reason.
      if (isAboutOneProvider(error.message, ' rejected the API key: '))
        return "Replace the key where the daemon runs, then restart it. A workspace's own key: gateway provider-keys set";
      if (isAboutOneProvider(error.message, ' out of credit: ')) return undefined;
      break;
    default:
  }
  if (error.param === 'wallet') return 'Create a wallet: gateway wallet create';
  if (error.param === 'maxAmountSats') return 'To pay more, raise --max-sats.';
  const { retry } = failures[error.code];
  if (retry === 'after-paying' && error.headers?.['www-authenticate'] !== undefined)
    return 'Pay from your wallet: --pay --max-sats NUMBER. Or buy credit: gateway credit buy';
  if (retry === 'after-paying')
    return "Ask the host's admin to add credit, then try again: gateway credit grant";
  if (retry === 'no' && error.retryAfterSeconds === undefined) return changeAdvice(error, inputs);
  const seconds = error.retryAfterSeconds;
  const wait = seconds === undefined ? 'Try again in a moment.' : `Try again in ${seconds} s.`;
  const inspection = inspections[error.code];
  return inspection ? `${wait} To see what is wrong: ${inspection}` : wait;
}

/** Whether a daemon with `--replay` has no recording of the call: waiting does not help. */
function isUnrecorded({ code, message }: ReceivedError): boolean {
  return code === 'upstream_failed' && /\bwas not recorded\.|\bNo recording answers /.test(message);
}

function changeAdvice({ param }: ReceivedError, inputs: readonly string[]): string {
  if (!param) return 'Change the request, then try again.';
  // A member of what a flag takes as a whole, such as `policy.model`, is still changed with that flag.
  const [whole = ''] = param.split(/[.[]/, 1);
  return `Change ${inputFor(param, inputs) ?? inputFor(whole, inputs) ?? param}, then try again.`;
}

function notFoundAdvice(
  error: ReceivedError,
  { commands, inputs }: { commands: CommandIndex | undefined; inputs: readonly string[] },
): string {
  const { param, path } = error;
  if (param === 'x-workspace-id')
    return 'Switch back to your own workspace: gateway workspaces use me, or unset GATEWAY_WORKSPACE.';
  if (param === 'code') return 'Ask the sender for a new code: gateway workspaces invite';
  if (param === 'service.thread') return 'List what exists: gateway threads list';
  const command = path && commands?.listCommand(path);
  return command ? `List what exists: ${command}` : changeAdvice(error, inputs);
}

/** Sentences about several providers are separated by semicolons. */
function isAboutOneProvider(message: string, sentence: string): boolean {
  return message.includes(sentence) && !message.includes(';');
}

/** Commands that show what is wrong, for failures that waiting may not fix. */
const inspections: Partial<Record<ErrorCode, string>> = {
  no_route: 'gateway status',
  unavailable: 'gateway doctor',
};

const unreachableAdvice: Record<Unreachable['kind'], string> = {
  refused: 'Check the address, and that the daemon is running.',
  forbidden: "The socket is only for the daemon's user or group: run this as that user.",
  unresolved: 'Check the address.',
  untrusted: 'To trust its authority, set NODE_EXTRA_CA_CERTS to its certificate.',
  timeout: 'Check the address and the network, then try again.',
  cut: 'Try again.',
};
