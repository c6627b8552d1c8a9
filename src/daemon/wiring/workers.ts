import type { WireWindow } from '../features/capture/index.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import type { LearnedRefusal } from '../features/inference/index.ts';

/** What runs in a worker, and what it has done. */
export interface WorkerLoad {
  /** Calls that it has admitted since its start. */
  admitted: number;
  requests: number;
  streams: number;
  calls: number;
  writesWaiting: number;
}

/** The threads that serve model calls besides the main one, as its features know them. */
export interface Workers {
  readonly count: number;
  /** Ends a call of the workspace. Returns whether one of them has it. */
  cancel(call: { workspaceId: string; requestId: string }): Promise<boolean>;
  /** Ends the benches of a provider, of one account or of all. */
  retry(bench: { provider: string; account: string | undefined }): Promise<void>;
  /** What the models of a provider refused in each of them. */
  refusals(provider: string): Promise<readonly LearnedRefusal[][]>;
  /** Of each of them. */
  load(): Promise<readonly WorkerLoad[]>;
  /** Passes on which providers the main thread can call now. */
  readonly showProviders: (descriptions: readonly ProviderDescription[]) => void;
  /** Passes on in which times the bytes of a workspace’s streams are kept. */
  showWires(workspaceId: string, windows: readonly WireWindow[]): void;
}

/** Joins what this thread and the workers do, for endpoints that show or end it. */
export function withWorkers(
  running: { cancel(workspaceId: string, requestId: string): boolean },
  workers?: Workers,
) {
  return {
    async cancel(workspaceId: string, requestId: string): Promise<boolean> {
      if (running.cancel(workspaceId, requestId)) return true;
      return (await workers?.cancel({ workspaceId, requestId })) ?? false;
    },
  };
}
