import type { Config } from './config.ts';

/** Settings that are read on each call. A reload changes the members of these objects. */
export interface LiveSettings {
  readonly aliases: Record<string, string>;
  readonly cache: Config['cache'];
  readonly freeTier: Config['freeTier'];
  readonly signUps: Config['signUps'];
  defaultModel: string | undefined;
  marginPpm: number;
  allPrepaid: boolean;
  storesResponses: boolean;
  responsesKeptMs: number;
  backgroundRunsMax: number;
  paymentHosts: readonly string[];
}

export function liveSettings(config: Config): LiveSettings {
  const {
    defaultModel,
    marginPpm,
    allPrepaid,
    storesResponses,
    responsesKeptMs,
    backgroundRunsMax,
    paymentHosts,
  } = config;
  return {
    aliases: { ...config.aliases },
    cache: { ...config.cache },
    freeTier: { ...config.freeTier },
    signUps: { ...config.signUps },
    defaultModel,
    marginPpm,
    allPrepaid,
    storesResponses,
    responsesKeptMs,
    backgroundRunsMax,
    paymentHosts,
  };
}

/** Applies a new configuration to subsequent calls. Objects stay the same, as the daemon's parts hold on to them. */
export function applyReload(live: LiveSettings, config: Config): void {
  const { aliases, cache, freeTier, signUps, ...values } = liveSettings(config);
  Object.assign(live, values);
  Object.assign(live.cache, cache);
  Object.assign(live.freeTier, freeTier);
  Object.assign(live.signUps, signUps);
  for (const name of Object.keys(live.aliases)) delete live.aliases[name];
  Object.assign(live.aliases, aliases);
}
