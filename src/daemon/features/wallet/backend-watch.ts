import type { WalletBackendStatus } from '../../../shared/contract/wallet-backend.ts';
import { ApiError } from '../../../shared/errors.ts';
import { backendFacts, type ConnectedBackend } from '../../../shared/payments/wallet-backends.ts';
import type { Log } from '../../base/log.ts';
import { fromNowOn, type World } from '../../base/world.ts';
import { BackendFailure, type BackendInfo, type LightningBackend } from '../lightning/index.ts';
import { formatMsat } from './amounts.ts';
import { unknownGraceMs } from './payments.ts';
import type { WalletStore } from './store.ts';

export interface BackendWatchDeps {
  backend: () => LightningBackend;
  /** Where the secret of the configured back end comes from. */
  secretSource: () => Promise<WalletBackendStatus['secret']>;
  store: Pick<WalletStore, 'owed' | 'overduePayments'>;
  /** What keeps the wallets of the configured back end from paying, in sentences. */
  unreconciled: () => Promise<string[]>;
  world: Pick<World, 'sleep' | 'now'>;
  log: Pick<Log, 'warn'>;
}

/** The last known state of the back end. */
export type KnownState = Pick<WalletBackendStatus, 'backend' | 'state' | 'problems'>;

/** The answer of a back end; `owed` is what its wallets hold, in millisatoshis. */
interface Inspection {
  state: 'ready' | 'limited' | 'unavailable';
  problems: string[];
  info: BackendInfo | undefined;
  owed: number;
}

const checkEveryMs = 60_000;
/** How many payments that await a person are named. */
const unresolvedMax = 5;

/** Tracks whether the Lightning back end works, and logs changes. */
export class BackendWatch {
  readonly #deps: BackendWatchDeps;
  #latest: KnownState | undefined;

  constructor(deps: BackendWatchDeps) {
    this.#deps = deps;
  }

  /** The last known state. */
  known(): KnownState {
    const { name, isConnected } = this.#deps.backend();
    if (!isConnected) return { backend: name, state: 'ready', problems: [] };
    return this.#latest?.backend === name ? this.#latest : { backend: name, state: 'unknown', problems: [] };
  }

  /** Asks the configured back end. Rejects only if the daemon itself fails. */
  async check(signal: AbortSignal): Promise<WalletBackendStatus> {
    const { secretSource, unreconciled } = this.#deps;
    const backend = this.#deps.backend();
    const inspected = await this.inspect(backend, signal);
    const { info, owed } = inspected;
    const open = await unreconciled();
    const problems = [...open, ...inspected.problems];
    const state = open.length > 0 && inspected.state === 'ready' ? 'limited' : inspected.state;
    const { name, network } = backend;
    this.#learn({ backend: name, state, problems });
    return {
      backend: name,
      state,
      problems,
      network,
      node_id: info?.nodeId ?? null,
      balance_msats: info?.balanceMsat ?? null,
      owed_msats: owed,
      secret: await secretSource(),
    };
  }

  /** Asks a back end, and compares it with what its wallets need. Rejects only if the daemon itself fails. */
  async inspect(backend: LightningBackend, signal: AbortSignal): Promise<Inspection> {
    const { name, network } = backend;
    const owed = await this.#deps.store.owed({ backend: name, network });
    const found = await this.#ask(backend, signal);
    const info = 'failure' in found ? undefined : found;
    const problems = info ? [...info.problems, ...mismatches(backend, info, owed)] : [];
    if ('failure' in found) problems.push(found.failure);
    problems.push(...(await this.#unresolved(backend)));
    const isOtherNetwork = info !== undefined && (info.network ?? network) !== network;
    const worksPartly = problems.length > 0 ? 'limited' : 'ready';
    const state = info === undefined || isOtherNetwork ? 'unavailable' : worksPartly;
    return { state, problems, info, owed };
  }

  /** Checks a connected back end every minute until aborted. */
  async keepChecking(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const check = async () => {
      if (this.#deps.backend().isConnected) await this.check(signal);
    };
    await fromNowOn(this.#deps.world, { everyMs: checkEveryMs, signal, onFailure }, check);
  }

  async #ask(backend: LightningBackend, signal: AbortSignal): Promise<BackendInfo | { failure: string }> {
    try {
      return await backend.check(signal);
    } catch (error) {
      if (error instanceof BackendFailure || error instanceof ApiError) return { failure: error.message };
      throw error;
    }
  }

  /** Payments that only a person can end. */
  async #unresolved({ name, mayForget }: LightningBackend): Promise<string[]> {
    if (!mayForget) return [];
    const { store, world } = this.#deps;
    const expiredBefore = world.now() - unknownGraceMs;
    const payments = await store.overduePayments({ backend: name, expiredBefore, limit: unresolvedMax });
    return payments.map(
      ({ id, amount }) =>
        `${titleOf(name)} does not report whether ${id} of ${formatMsat(amount)} was paid. Look it up in the wallet, then: gateway payments resolve ${id} --paid (or --failed)`,
    );
  }

  #learn(state: KnownState): void {
    const before = this.#latest;
    this.#latest = state;
    const isNew = before?.state !== state.state || before.problems.join() !== state.problems.join();
    if (isNew && state.state !== 'ready')
      this.#deps.log.warn({ ...state }, 'the Lightning back end has problems');
  }
}

/** How the node differs from what the configuration and the wallets expect of it. */
function mismatches({ name, network }: LightningBackend, info: BackendInfo, owed: number): string[] {
  const found: string[] = [];
  if (info.network !== null && info.network !== network) {
    found.push(`${titleOf(name)} is on ${info.network}, but \`wallet.network\` is ${network}.`);
  }
  if (info.balanceMsat !== null && info.balanceMsat < owed) {
    found.push(
      `The wallets hold ${formatMsat(owed)}, but the node can send only ${formatMsat(info.balanceMsat)}.`,
    );
  }
  return found;
}

function titleOf(name: string): string {
  return Object.hasOwn(backendFacts, name) ? backendFacts[name as ConnectedBackend].title : name;
}
