import { localModelsProvider } from '../../shared/constants/engine-library.ts';
import { apiVersion } from '../../shared/version.ts';
import type { OnFailure } from '../base/feature.ts';
import type { CallObserver, Captures } from '../features/calls/index.ts';
import {
  Calibrations,
  Debiaser,
  DecisionSlots,
  Decisions,
  decisionHandlers,
  decisionModelEntries,
  type EngineName,
  type Engines,
  eitherEngine,
  embeddedEngine,
  engineSource,
  HostBudget,
  ModelMemory,
} from '../features/decisions/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import { nodeCard, nodeIdOf, Peers, peerHandlers } from '../features/peers/index.ts';
import type { ProviderSet } from '../features/providers/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import { peerAddressProblem, portOf } from '../reverse-proxy/address-guard.ts';
import { peerClient } from '../upstream/decisions/peer-client.ts';
import { systemOneEngine } from '../upstream/decisions/system-one-engine.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { EngineFeature } from './engine.ts';
import type { Models } from './models.ts';

interface DecisionsFeatures {
  captures: Captures;
  accounts: Pick<Accounts, 'admission' | 'isPrepaid' | 'hostWorkspace'>;
  engine: Pick<EngineFeature, 'engineFor' | 'modelOf'>;
  events: Pick<EventFeed, 'record'>;
  idempotency: Pick<Idempotency, 'once'>;
  models: Pick<Models, 'guardrails' | 'ownKeys' | 'providers' | 'router'>;
  observers: readonly CallObserver[];
  workspaces: Pick<Workspaces, 'membership' | 'isDaemonOwner'>;
}

/** Typed decisions: the host's engines, and the models that may answer besides them. */
export function createDecisionFeature(deps: AppDeps, features: DecisionsFeatures) {
  const { storage, world, makeId, dataKey, log } = deps;
  const { accounts, idempotency, models, observers } = features;
  const { ownKeys, providers, router } = models;
  const settings = deps.settings.decisions;
  const engineFor = (name: EngineName) =>
    eitherEngine(
      systemOneEngine(world, name, settings.engine),
      embeddedEngine(() => features.engine.engineFor(name)),
      () => settings.engine.url !== undefined,
    );
  const engines: Engines = { engine: engineFor('engine'), 'engine-flash': engineFor('engine-flash') };
  const calibrations = new Calibrations(storage.decisions, storage.changes);
  const budget = new HostBudget({ store: storage.decisions, now: () => world.now(), settings });
  const backupModels = () => [
    ...settings.models.filter((model) => !model.includes('*')),
    ...localModels(providers),
  ];
  const slots = new DecisionSlots(settings);
  const debiaser = new Debiaser();
  const nodeId = nodeIdOf(dataKey);
  const peers = new Peers({
    store: storage.peers,
    changes: storage.changes,
    client: peerClient(world),
    world,
    nodeId,
    workspaces: features.workspaces,
    events: features.events,
    hostWorkspace: accounts.hostWorkspace,
    vault: ownKeys.vault,
    addressProblem: (url, options) => peerAddressProblem(url, options, portOf(new URL(deps.process.url()))),
    ownIdentity: (model) => {
      const status = model === 'engine' || model === 'engine-flash' ? engines[model].status() : undefined;
      return status?.available ? status.identity : undefined;
    },
    settings,
    engineFor: (model) => {
      const name = model === 'service/decide' ? 'engine' : model;
      if (name !== 'engine' && name !== 'engine-flash') return undefined;
      // Callers come first: a comparison that would have to wait is left to a peer.
      if (!engines[name].status().available || slots.free === 0) return undefined;
      const source = engineSource(name, engines[name], debiaser);
      return {
        ...source,
        decide: (request, options, signal) =>
          slots.run(() => source.decide(request, options, signal), signal),
      };
    },
    onCompared: (peer, isSame) => deps.telemetry.counters.compared(peer, isSame),
    onFailure: (error) => log.warn({ err: error }, 'a call to a peer could not be recorded'),
  });
  const decisions = new Decisions({
    peersFor: (call) => peers.sourceFor(call),
    engines,
    calibrations,
    budget,
    settings,
    backupModels,
    world,
    makeId,
    router,
    keyFor: ownKeys.keyFor,
    engineOf: ({ provider, providerModel }) =>
      provider === localModelsProvider
        ? embeddedEngine(() => features.engine.modelOf(providerModel))
        : undefined,
    nativeOf: (provider) => providers.byName.get(provider)?.askNative,
    debiaser,
    slots,
    memory: new ModelMemory(world),
    redacted: (text, route) => models.guardrails.redacted(text, route),
  });
  return {
    handlers: [
      ...decisionHandlers({
        decisions,
        calibrations,
        idempotency,
        captures: features.captures,
        admission: accounts.admission,
        isPrepaid: accounts.isPrepaid,
        observers,
        world,
        settings,
        nodeId,
      }),
      ...peerHandlers({
        peers,
        card: () => nodeCard({ nodeId, version: apiVersion, engines, settings, slots }),
        now: () => world.now(),
      }),
    ],
    modelEntries: (created: number) =>
      decisionModelEntries(
        { engines, hasBackups: () => backupModels().length > 0 || settings.defaultOrder === 'peer' },
        created,
      ),
    /** Loads what was fitted, and the peers; to be called before the first decision. */
    load: () => Promise.all([calibrations.load(), peers.load()]),
    jobs: [(signal: AbortSignal, onFailure: OnFailure) => peers.runBackground(signal, onFailure)],
  };
}

/** The first model of each detected local server; the host's own models are engines. */
function localModels({ byName }: Pick<ProviderSet, 'byName'>): string[] {
  return [...byName.values()].flatMap(({ description: { kind, name, models } }) => {
    const isServer = kind === 'local' && name !== localModelsProvider;
    const [first] = isServer && Array.isArray(models) ? models : [];
    return first === undefined ? [] : [`${name}/${first}`];
  });
}
