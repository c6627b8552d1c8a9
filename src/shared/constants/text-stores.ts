/** Where texts of calls are stored besides their content, and what they are called for people. */
export const textStores = {
  responses: 'stored responses',
  background_responses: 'streams of background responses',
  threads: 'runs of threads',
  cached_answers: 'cached answers',
  idempotency_keys: 'answers of idempotency keys',
} as const;

export type TextStore = keyof typeof textStores;

export const textStoreNames = Object.keys(textStores) as TextStore[];

/** The same with the content of calls. */
export const clearedStores = ['content', ...textStoreNames] as const;

/** What stays of a call whose texts are deleted. */
export const stayingRecords = {
  traces: 'who called, when, with which model and labels, and the error; no texts',
  usage: 'tokens and costs, and what the ledger and wallets have of them',
  copies: 'backups, recordings, exports and spans that were made before, and what providers keep',
} as const;
