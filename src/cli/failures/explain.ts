import { NotTheService } from '../../shared/client.ts';
import { type ErrorCode, type ExitCode, exitCodes, failures } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/received-error.ts';
import { asTyped } from '../as-typed.ts';
import type { Context } from '../context.ts';
import { localName } from '../hosts/host-file.ts';
import { notRunning } from '../hosts/hosts.ts';
import { Unreachable } from '../hosts/send.ts';
import { visible } from '../output/visible.ts';
import { whereListed } from '../where-listed.ts';
import { CliError, CutShort } from './cli-error.ts';

/** A failure as a person reads it. */
export interface Explanation {
  exit: ExitCode;
  /** The first line, without `error:`. */
  sentence: string;
  /** Further lines of name and text. */
  details: [name: string, text: string][];
}

interface Seen {
  /** Whether the daemon that was spoken to is the one of this machine. */
  isLocal: boolean;
}

/** Says what went wrong, where, and what to do next. A failure that nobody foresaw is told as a bug, with its stack. */
export function explain(error: unknown, seen: Seen): Explanation {
  if (error instanceof CutShort) return { ...explain(error.failure, seen), exit: exitCodes.partlyDone };
  if (error instanceof ReceivedError) return explainReceived(error, seen);
  if (error instanceof CliError) return explainOwn(error);
  if (error instanceof Unreachable) {
    if (error.kind === 'refused' && seen.isLocal) return explainOwn(notRunning());
    return {
      exit: exitCodes.tryLater,
      sentence: error.message,
      details: [['next', unreachableAdvice(error)]],
    };
  }
  if (error instanceof NotTheService) {
    return { exit: exitCodes.failed, sentence: error.message, details: [['next', 'Check the address.']] };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exit: exitCodes.failed,
    sentence: error instanceof Error ? error.message : String(error),
    details: [['bug', `This should not happen; please report it with these lines.\n${stack}`]],
  };
}

function explainOwn(error: CliError): Explanation {
  return { exit: error.exit, sentence: error.message, details: error.next ? [['next', error.next]] : [] };
}

function explainReceived(error: ReceivedError, seen: Seen): Explanation {
  const details: Explanation['details'] = [];
  if (error.param) details.push(['param', error.param]);
  if (error.sentCode) details.push(['code', error.sentCode]);
  if (error.requestId) details.push(['request', error.requestId]);
  const next = advice(error, seen);
  if (next) details.push(['next', next]);
  return { exit: failures[error.code].exit, sentence: error.message, details };
}

function advice(error: ReceivedError, { isLocal }: Seen): string | undefined {
  switch (error.code) {
    case 'unauthenticated':
      if (error.param === 'code') return 'Ask whoever runs the host for another: gateway users login-code';
      if (!isLocal) return 'Log in with: gateway login URL, or set GATEWAY_KEY to a valid key.';
      return 'Set GATEWAY_KEY to a valid key; on the machine of the daemon its own login is used.';
    case 'signed_out':
      if (!isLocal) return 'Log in with gateway login URL, and leave GATEWAY_KEY unset.';
      return 'Run this on the machine of the daemon, without GATEWAY_KEY, or set GATEWAY_KEY to a login key.';
    case 'out_of_scope':
      return 'Use a key with that scope: gateway keys issue --scope NAME';
    case 'permission':
      if (isLocal || !error.path?.startsWith('/v1/admin/'))
        return 'Ask whoever may, or log in as they are: gateway whoami tells who you are.';
      return `That of this machine’s own daemon: --host ${localName}`;
    case 'not_found':
      return notFoundAdvice(error);
    case 'previous_response_not_found':
      return 'See what there is: gateway responses list';
    case 'limit_reached':
      // The message of a rate limit says when to try again.
      if (error.retryAfterSeconds !== undefined) return undefined;
      // What a key was issued for stays; what its owner limits it to does not.
      return error.param?.startsWith('scopes.')
        ? 'Use another key: gateway keys issue'
        : 'The owner of the key can change its limits: gateway keys limits set KEY';
    case 'model_not_found':
      return 'See what there is: gateway models list';
    case 'no_route':
      if (!/\bno key: set /.test(error.message)) break;
      return 'Set a key where the daemon runs, then start it again; see: gateway status';
    case 'unavailable':
      // Waiting helps nobody where the sentence names a command.
      if (/\bgateway vault /.test(error.message)) return undefined;
      break;
    default:
  }
  const { retry } = failures[error.code];
  if (retry === 'after-paying')
    return 'Add credit, then try again: whoever runs the host can, with gateway credit grant.';
  if (retry === 'no') return `Change ${error.param ?? 'what you ask for'}, then try again.`;
  const seconds = error.retryAfterSeconds;
  const wait = seconds === undefined ? 'Try again in a moment.' : `Try again in ${seconds} s.`;
  const inspection = inspections[error.code];
  return inspection ? `${wait} What is wrong: ${inspection}` : wait;
}

function notFoundAdvice({ param, path }: ReceivedError): string {
  if (param === 'x-workspace-id') return 'Act in your own again with: gateway workspaces use me';
  if (param === 'code') return 'Ask whoever sent it for another: gateway workspaces invite';
  const command = whereListed(path);
  if (command) return `See what there is: ${command}`;
  return `Change ${param ?? 'what you ask for'}, then try again.`;
}

/** Where to look when waiting may not be enough. */
const inspections: Partial<Record<ErrorCode, string>> = {
  no_route: 'gateway status',
  unavailable: 'gateway doctor',
};

function unreachableAdvice({ kind }: Unreachable): string {
  if (kind === 'refused') return 'Nobody listens there: check the address, and that the daemon runs.';
  if (kind === 'forbidden')
    return 'It is for whoever runs the daemon, or their group: run this as that user.';
  if (kind === 'unresolved') return 'The name is not known: check the address.';
  if (kind === 'untrusted') return 'Its certificate is not trusted here; see NODE_EXTRA_CA_CERTS.';
  if (kind === 'timeout') return 'Check the address and the network, then try again.';
  return 'The connection broke off; try again.';
}

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
