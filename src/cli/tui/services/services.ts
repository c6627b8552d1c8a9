import type { Client } from '../../../shared/client.ts';
import type { ApiCallLog } from './api-call-log.ts';
import type { CallStore } from './call-store.ts';
import type { Follow } from './follower.ts';
import type { Spending } from './spending.ts';

/** The services with which screens talk to the daemon. */
export interface Services {
  client: Client;
  /** The requests of the workspace, live. */
  calls: CallStore;
  /** The API calls that this program made. */
  log: ApiCallLog;
  /** Names of the keys that were listed, by id. */
  keyNames: Map<string, string>;
  spending: Spending;
  follow: Follow;
  defaultModel(): Promise<string>;
  /** Milliseconds since 1970. */
  now(): number;
}
