import { ApiError } from '../../shared/errors.ts';
import type { Log } from '../base/log.ts';
import type { Vault } from '../features/vault/index.ts';

/** Prompts in the terminal that started the daemon; undefined for no input, or once the signal is aborted. */
export type AskSecret = (question: string, signal: AbortSignal) => Promise<string | undefined>;

interface UnlockDeps {
  vault: Pick<Vault, 'status' | 'unlock'>;
  /** Undefined without a terminal. */
  ask: AskSecret | undefined;
  stderr: { write(text: string): unknown };
  log: Pick<Log, 'warn'>;
}

const attemptsMax = 3;

/** Prompts for the vault's passphrase, if it has one, while the daemon already serves. Never rejects. */
export async function unlockAtStart(deps: UnlockDeps, signal: AbortSignal): Promise<void> {
  const { vault, ask, stderr, log } = deps;
  try {
    const { state, store, reason } = await vault.status();
    if (state === 'unlocked' || store !== 'passphrase') return;
    if (ask === undefined) {
      log.warn({ reason }, 'vault is sealed');
      return;
    }
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const passphrase = await ask('The vault is sealed. Passphrase (Enter to skip)', signal);
      if (signal.aborted) return;
      if (!passphrase) break;
      if (await opensWith(vault, passphrase)) {
        stderr.write('The vault is unlocked.\n');
        return;
      }
      stderr.write('Wrong passphrase.\n');
    }
    stderr.write('The vault stays sealed. To unlock it later, run: gateway vault unlock\n');
  } catch (error) {
    log.warn({ err: error }, 'passphrase prompt failed');
  }
}

async function opensWith(vault: UnlockDeps['vault'], passphrase: string): Promise<boolean> {
  try {
    return (await vault.unlock({ passphrase })).state === 'unlocked';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return false;
    throw error;
  }
}
