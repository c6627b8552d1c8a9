import type { Client } from '../../../shared/client.ts';
import type { LiveCalls } from '../../../view/live-calls.ts';
import type { ApiCallLog } from './api-call-log.ts';
import type { Follow } from './follower.ts';
import type { Spending } from './spending.ts';

/** The services with which screens talk to the daemon. */
/** How many calls the screen Calls keeps. */
export const callsMax = 1000;

export interface Services {
  client: Client;
  /** The requests of the workspace, live. */
  calls: LiveCalls;
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
