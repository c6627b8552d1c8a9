/** The source of granted credit; its balance is minus the sum of all grants. */
export const grantsAccount = 'grants';

/** The source of credit that was paid for; its balance is minus the sum of all paid challenges. */
export const topUpsAccount = 'top-ups';

/** The account of a workspace. */
export function workspaceAccount(workspaceId: string): string {
  return `workspace:${workspaceId}`;
}

/** Accounts in millisatoshis start with this; all others are in nano-dollars. */
const msatPrefix = 'msat:';

/** The source of play money. */
export const faucetAccount = `${msatPrefix}faucet`;
/** Reserved for pending payments over Lightning. */
export const inFlightAccount = `${msatPrefix}in-flight`;
/** The other end of payments over Lightning: its balance is what was sent minus what was received. */
export const lightningAccount = `${msatPrefix}lightning`;
/** Bears fees beyond what was reserved for them. */
export const hostAccount = `${msatPrefix}host`;

/** The account with the balance of a wallet. */
export function walletAccount(walletId: string): string {
  return `${msatPrefix}wallet:${walletId}`;
}

export type LedgerUnit = 'millisatoshis' | 'nano-dollars';

/** Each entry moves money between two accounts of the same unit. */
export function unitOf(account: string): LedgerUnit {
  return account.startsWith(msatPrefix) ? 'millisatoshis' : 'nano-dollars';
}

/** An SQL condition that the account in a column is in millisatoshis. */
export function isInMsat(column: string): string {
  return `(substr(${column}, 1, ${msatPrefix.length}) = '${msatPrefix}')`;
}
