import type { CallDeps } from '../../calls/index.ts';
import type { FreeTierSettings } from '../../metering/index.ts';
import type { Threads } from '../../threads/index.ts';
import type { ResponsesStore } from '../stored/responses-store.ts';

/** Settings that may change while the daemon runs; each call reads them once. */
export interface InferenceSettings {
  /** The model of calls that name none; undefined: they are rejected. */
  readonly defaultModel: string | undefined;
  /** Added to provider prices, in millionths. */
  readonly marginPpm: number;
  /** Whether responses are stored when neither the call nor its key says. */
  readonly storesResponses: boolean;
  /** How long stored responses are kept, in milliseconds. */
  readonly responsesKeptMs: number;
  /** How many background responses may run at once, of all callers. */
  readonly backgroundRunsMax: number;
  readonly freeTier: FreeTierSettings;
  /** How long a provider may be silent before a stream starts without its answer; 0: as long as it likes. */
  readonly silentStartMs: number;
  readonly guardrails: CallDeps['settings']['guardrails'];
}

export interface InferenceDeps extends CallDeps {
  settings: InferenceSettings;
  responses: ResponsesStore;
  threads: Pick<Threads, 'start'>;
}
