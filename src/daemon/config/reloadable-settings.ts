import type { Config } from './config.ts';

/** Settings that are read on each call. A reload changes the members of these objects. */
export interface ReloadableSettings {
  readonly aliases: Config['aliases'];
  readonly fallbacks: Config['fallbacks'];
  readonly cache: Config['cache'];
  readonly capture: Config['capture'];
  readonly freeTier: Config['freeTier'];
  readonly signUps: Config['signUps'];
  readonly decisions: Config['decisions'];
  readonly engine: Config['engine'];
  removedSettings: Config['removedSettings'];
  defaultModel: string | undefined;
  fallbackOn: Config['fallbackOn'];
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

export function createReloadableSettings(config: Config): ReloadableSettings {
  const {
    removedSettings,
    defaultModel,
    fallbackOn,
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
    capture: { ...config.capture },
    freeTier: { ...config.freeTier },
    signUps: { ...config.signUps },
    decisions: { ...config.decisions, engine: { ...config.decisions.engine } },
    engine: { ...config.engine },
    removedSettings,
    defaultModel,
    fallbackOn,
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
export function applyReload(settings: ReloadableSettings, config: Config): void {
  const {
    aliases,
    fallbacks,
    cache,
    capture,
    freeTier,
    signUps,
    decisions,
    engine: local,
    rate,
    ...values
  } = createReloadableSettings(config);
  Object.assign(settings, values);
  Object.assign(settings.cache, cache);
  Object.assign(settings.capture, capture);
  Object.assign(settings.freeTier, freeTier);
  Object.assign(settings.signUps, signUps);
  const { engine, ...others } = decisions;
  Object.assign(settings.decisions, others);
  Object.assign(settings.decisions.engine, engine);
  Object.assign(settings.engine, local);
  Object.assign(settings.rate, rate);
  replaceAll(settings.aliases, aliases);
  replaceAll(settings.fallbacks, fallbacks);
}

function replaceAll<T>(map: Record<string, T>, entries: Record<string, T>): void {
  for (const name of Object.keys(map)) delete map[name];
  Object.assign(map, entries);
}
