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

/** Applies a new configuration to subsequent calls. */
export function applyReload(live: LiveSettings, config: Config): void {
  const {
    defaultModel,
    marginPpm,
    allPrepaid,
    storesResponses,
    responsesKeptMs,
    backgroundRunsMax,
    paymentHosts,
  } = config;
  Object.assign(live, {
    ...{
      defaultModel,
      marginPpm,
      allPrepaid,
      storesResponses,
      responsesKeptMs,
      backgroundRunsMax,
      paymentHosts,
    },
  });
  Object.assign(live.cache, config.cache);
  Object.assign(live.freeTier, config.freeTier);
  Object.assign(live.signUps, config.signUps);
  for (const name of Object.keys(live.aliases)) delete live.aliases[name];
  Object.assign(live.aliases, config.aliases);
}
