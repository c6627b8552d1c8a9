import { exitCodes } from '../../shared/errors.ts';

const meanings: Record<keyof typeof exitCodes, string> = {
  done: 'done',
  failed: 'failed: change the request or the environment',
  usage: 'invalid command line',
  refused: 'refused by a limit, a scope or a permission',
  signIn: 'not signed in, or the key is not valid',
  pay: 'payment required',
  tryLater: 'temporarily unavailable: the daemon is not running, or it or a provider is busy',
  partlyDone: 'partly done: the answer was incomplete, or failed after it had started',
  workerDied: 'serve: a worker of the daemon died',
  dataNeedsRepair:
    'serve: the data folder cannot be used: damaged, moved, of a newer version, or not private',
  interrupted: 'interrupted by Ctrl-C',
};

/** The text of `gateway help exit-codes`. */
export function exitCodesHelp(): string {
  const lines = Object.entries(exitCodes).map(
    ([name, code]) => `${String(code).padStart(5)}  ${meanings[name as keyof typeof exitCodes]}\n`,
  );
  return `Exit codes:\n${lines.join('')}`;
}
