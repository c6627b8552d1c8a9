import {
  Capture,
  callerLevel,
  captureHandlers,
  WireWindows,
  WorkspaceLevels,
} from '../features/capture/index.ts';
import { matchingCalls } from '../features/traces/index.ts';
import { managedWorkspace, type Workspaces } from '../features/workspaces/index.ts';
import type { LoginCaller } from '../handler.ts';
import { repeatedly } from '../world.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';

const pruneEveryMs = 3_600_000;

/** The content of calls. */
export function createCaptureFeature(
  { content, settings, storage, world }: AppDeps,
  { hostWorkspace }: Pick<Accounts, 'hostWorkspace'>,
  workspaces: Pick<Workspaces, 'membership'>,
) {
  const wires = new WireWindows(() => world.now());
  const workspaceLevels = new WorkspaceLevels(storage.workspaces, storage.changes);
  const feature: Feature = {
    handlers: captureHandlers({
      store: content,
      matching: matchingCalls(storage.traces, () => world.now()),
      wires,
      now: () => world.now(),
      permitAdmin: (caller: LoginCaller) =>
        managedWorkspace(workspaces, { caller, workspace: 'me', action: 'have its streams kept' }),
      settings: settings.capture,
      levelOf: (caller) =>
        callerLevel({
          caller,
          settings: settings.capture,
          hostWorkspaceId: hostWorkspace.id,
          workspaceLevel: workspaceLevels.of(caller.workspaceId),
        }),
    }),
    load: () => workspaceLevels.load(),
    jobs: [
      (signal, onFailure) =>
        repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, () => content.prune()),
    ],
    close: () => content.close(),
  };
  const capture = new Capture({
    store: content,
    settings: settings.capture,
    hostWorkspaceId: () => hostWorkspace.id,
    workspaces: workspaceLevels,
    wires,
    world,
  });
  return { ...feature, capture };
}
