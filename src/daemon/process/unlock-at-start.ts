import { ApiError } from '../../shared/errors.ts';
import type { Vault } from '../features/vault/index.ts';

/** Asks whoever started the daemon; undefined for nothing, or when the signal says that it is too late. */
export type AskSecret = (question: string, signal: AbortSignal) => Promise<string | undefined>;

interface UnlockDeps {
  vault: Pick<Vault, 'status' | 'unlock'>;
  /** Undefined where nobody is there to be asked. */
  ask: AskSecret | undefined;
  stderr: { write(text: string): unknown };
  log: { warn(details: object, message: string): void };
}

const attemptsMax = 3;

/** Asks for the passphrase of a vault that has one, while calls are answered already. Never rejects. */
export async function unlockAtStart(deps: UnlockDeps, signal: AbortSignal): Promise<void> {
  const { vault, ask, stderr, log } = deps;
  try {
    const { state, store, reason } = await vault.status();
    if (state === 'unlocked' || store !== 'passphrase') return;
    if (ask === undefined) {
      log.warn({ reason }, 'the vault is sealed');
      return;
    }
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const passphrase = await ask('The vault is sealed. Its passphrase (Enter leaves it so)', signal);
      if (signal.aborted) return;
      if (!passphrase) break;
      if (await isOpenedBy(vault, passphrase)) {
        stderr.write('The vault is open.\n');
        return;
      }
      stderr.write('That is not the passphrase.\n');
    }
    stderr.write('The vault stays sealed until: gateway vault unlock\n');
  } catch (error) {
    log.warn({ err: error }, 'the passphrase of the vault could not be asked for');
  }
}

async function isOpenedBy(vault: UnlockDeps['vault'], passphrase: string): Promise<boolean> {
  try {
    return (await vault.unlock({ passphrase })).state === 'unlocked';
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return false;
    throw error;
  }
}
