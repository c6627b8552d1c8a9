import type { MakeId } from '../../shared/ids.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import {
  Calibrations,
  Debiaser,
  DecisionSlots,
  Decisions,
  decisionHandlers,
  decisionModelEntries,
  type Engines,
  HostBudget,
  ModelMemory,
} from '../features/decisions/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import type { CallObserver } from '../features/inference/index.ts';
import type { Admission } from '../features/metering/index.ts';
import type { ProviderRoute, Router } from '../features/routing/index.ts';
import type { Storage } from '../storage/storage.ts';
import { systemOneEngine } from '../upstream/decisions/system-one-engine.ts';
import type { World } from '../world.ts';
import type { OwnKeys } from './own-keys.ts';
import type { Provider } from './providers-from-config.ts';

interface DecisionsDeps {
  storage: Pick<Storage, 'decisions'>;
  world: World;
  makeId: MakeId;
  live: Pick<LiveSettings, 'decisions'>;
}

interface DecisionsFeatures {
  router: Router<ProviderRoute>;
  providers: { byName: ReadonlyMap<string, Provider> };
  ownKeys: Pick<OwnKeys, 'keyFor'>;
  admission: Admission;
  isPrepaid: (workspaceId: string) => boolean;
  idempotency: Pick<Idempotency, 'once'>;
  observers: readonly CallObserver[];
}

/** Typed decisions: the host's engines, and the models that may answer besides them. */
export function createDecisions(deps: DecisionsDeps, features: DecisionsFeatures) {
  const { storage, world, makeId, live } = deps;
  const { providers } = features;
  const settings = live.decisions;
  const engines: Engines = {
    engine: systemOneEngine(world, 'engine', settings.engine),
    'engine-flash': systemOneEngine(world, 'engine-flash', settings.engine),
  };
  const calibrations = new Calibrations(storage.decisions);
  const budget = new HostBudget({ store: storage.decisions, now: () => world.now(), settings });
  const backupModels = () => [
    ...settings.models.filter((model) => !model.includes('*')),
    ...localModels(providers),
  ];
  const decisions = new Decisions({
    ...{ engines, calibrations, budget, settings, backupModels, world, makeId },
    router: features.router,
    keyFor: features.ownKeys.keyFor,
    nativeOf: (provider) => providers.byName.get(provider)?.askNative,
    debiaser: new Debiaser(),
    slots: new DecisionSlots(settings),
    memory: new ModelMemory(world),
  });
  const { admission, isPrepaid, idempotency, observers } = features;
  return {
    handlers: decisionHandlers({
      ...{ decisions, calibrations, idempotency, admission, isPrepaid, observers, world },
      settings,
    }),
    modelEntries: (created: number) =>
      decisionModelEntries({ engines, hasBackups: () => backupModels().length > 0 }, created),
    /** Loads what was fitted; to be called before the first decision. */
    recover: () => calibrations.load(),
  };
}

/** The first model of each detected local server. */
function localModels({ byName }: DecisionsFeatures['providers']): string[] {
  return [...byName.values()].flatMap(({ description: { kind, name, models } }) => {
    const [first] = kind === 'local' && Array.isArray(models) ? models : [];
    return first === undefined ? [] : [`${name}/${first}`];
  });
}
