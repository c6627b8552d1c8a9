import { exitCodes } from '../../shared/errors.ts';

const meanings: Record<keyof typeof exitCodes, string> = {
  done: 'done',
  failed: 'failed: the request or the environment has to change',
  usage: 'the command line is not understood',
  refused: 'refused by a limit, a scope or a permission',
  signIn: 'no valid key: sign in',
  pay: 'pay first, then try again',
  tryLater: 'not now: the daemon is not running, or it or a provider is busy or down',
  partlyDone: 'partly done: an answer that was cut short, or failed after its first words',
  workerDied: 'serve: a worker of the daemon died',
  dataNeedsRepair: 'serve: the data needs repair, or was moved away',
  interrupted: 'interrupted by Ctrl-C',
};

/** The help topic `exit-codes`. */
export function exitCodesHelp(): string {
  const lines = Object.entries(exitCodes).map(
    ([name, code]) => `${String(code).padStart(5)}  ${meanings[name as keyof typeof exitCodes]}\n`,
  );
  return `Exit codes:\n${lines.join('')}`;
}
