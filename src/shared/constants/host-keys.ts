/** How the names of the host's keys for providers begin in the vault. */
export const hostKeyPrefix = 'host-key|';
