import type { Config } from './config.ts';

/** Settings that are read on each call. A reload changes the members of these objects. */
export interface LiveSettings {
  readonly aliases: Config['aliases'];
  readonly fallbacks: Config['fallbacks'];
  readonly cache: Config['cache'];
  readonly freeTier: Config['freeTier'];
  readonly signUps: Config['signUps'];
  readonly decisions: Config['decisions'];
  readonly engine: Config['engine'];
  defaultModel: string | undefined;
  marginPpm: number;
  allPrepaid: boolean;
  storesResponses: boolean;
  responsesKeptMs: number;
  backgroundRunsMax: number;
  silentStartMs: number;
  /** A new object after each reload. */
  lightning: Config['lightning'];
  paymentHosts: readonly string[];
  toolSpending: Config['toolSpending'];
  publicUrls: Config['publicUrls'];
  allowedUpstreams: readonly string[];
  acceptsPayments: boolean;
  readonly rate: Config['rate'];
}

export function liveSettings(config: Config): LiveSettings {
  const {
    defaultModel,
    marginPpm,
    allPrepaid,
    storesResponses,
    responsesKeptMs,
    backgroundRunsMax,
    silentStartMs,
    lightning,
    paymentHosts,
    toolSpending,
    publicUrls,
    allowedUpstreams,
    acceptsPayments,
  } = config;
  return {
    aliases: { ...config.aliases },
    fallbacks: { ...config.fallbacks },
    cache: { ...config.cache },
    freeTier: { ...config.freeTier },
    signUps: { ...config.signUps },
    decisions: { ...config.decisions, engine: { ...config.decisions.engine } },
    engine: { ...config.engine },
    defaultModel,
    marginPpm,
    allPrepaid,
    storesResponses,
    responsesKeptMs,
    backgroundRunsMax,
    silentStartMs,
    lightning,
    paymentHosts,
    toolSpending,
    publicUrls,
    allowedUpstreams,
    acceptsPayments,
    rate: { ...config.rate },
  };
}

/** Applies a new configuration to subsequent calls. Objects stay the same, as the daemon's parts hold on to them. */
export function applyReload(live: LiveSettings, config: Config): void {
  const {
    aliases,
    fallbacks,
    cache,
    freeTier,
    signUps,
    decisions,
    engine: local,
    rate,
    ...values
  } = liveSettings(config);
  Object.assign(live, values);
  Object.assign(live.cache, cache);
  Object.assign(live.freeTier, freeTier);
  Object.assign(live.signUps, signUps);
  const { engine, ...others } = decisions;
  Object.assign(live.decisions, others);
  Object.assign(live.decisions.engine, engine);
  Object.assign(live.engine, local);
  Object.assign(live.rate, rate);
  replaceAll(live.aliases, aliases);
  replaceAll(live.fallbacks, fallbacks);
}

function replaceAll<T>(map: Record<string, T>, entries: Record<string, T>): void {
  for (const name of Object.keys(map)) delete map[name];
  Object.assign(map, entries);
}
