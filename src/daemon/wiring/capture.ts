import { surfaceOf } from '../../shared/contract/endpoint.ts';
import type { Feature } from '../base/feature.ts';
import type { LoginCaller } from '../base/handler.ts';
import { repeatedly } from '../base/world.ts';
import { readUser } from '../features/calls/index.ts';
import {
  Capture,
  ClearTexts,
  type ClearTextsDeps,
  callerLevel,
  captureHandlers,
  WireWindows,
  WorkspaceLevels,
} from '../features/capture/index.ts';
import { matchingCalls } from '../features/traces/index.ts';
import { managedWorkspace, type Workspaces } from '../features/workspaces/index.ts';
import { errorAnswer } from '../http/error-reply.ts';
import { errorSurface } from '../http/server-call.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps, CallAppDeps } from './app-deps.ts';
import type { Workers } from './workers.ts';

const pruneEveryMs = 3_600_000;

interface CaptureDeps extends Pick<CallAppDeps, 'settings' | 'storage' | 'world'> {
  content: ConstructorParameters<typeof Capture>[0]['store'];
}

/** Takes the content of calls where it arises. */
export function createCapture(
  { content, settings, storage, world }: CaptureDeps,
  { hostWorkspace }: Pick<Accounts, 'hostWorkspace'>,
  onWires?: Workers['showWires'],
) {
  const wires = new WireWindows(() => world.now(), onWires);
  const workspaceLevels = new WorkspaceLevels(storage.workspaces, storage.changes);
  const capture = new Capture({
    store: content,
    settings: settings.capture,
    hostWorkspaceId: () => hostWorkspace.id,
    workspaces: workspaceLevels,
    wires,
    world,
    userOf: readUser,
    errorText: (error, { endpoint, headers, requestId }) => {
      const surface = errorSurface(surfaceOf(endpoint), headers);
      return errorAnswer(error, { surface, requestId, unauthorizedType: 'unauthorized' }).body;
    },
  });
  return { capture, wires, workspaceLevels, load: () => workspaceLevels.load() };
}

/** The content of calls. */
export function createCaptureFeature(
  deps: AppDeps,
  { hostWorkspace }: Pick<Accounts, 'hostWorkspace'>,
  workspaces: Pick<Workspaces, 'membership'>,
  { announce, recordCounted }: Pick<ClearTextsDeps, 'announce' | 'recordCounted'>,
) {
  const { content, log, settings, storage, world, workers } = deps;
  const onWires: Workers['showWires'] = (...shown) => workers?.showWires(...shown);
  const { capture, wires, workspaceLevels, load } = createCapture(deps, { hostWorkspace }, onWires);
  const matching = matchingCalls(storage.traces, () => world.now());
  const texts = new ClearTexts({
    content,
    texts: storage.texts,
    matching,
    changes: storage.changes,
    hasOthers: () => storage.server !== undefined,
    announce,
    recordCounted,
    world,
    log,
  });
  const feature: Feature = {
    handlers: captureHandlers({
      store: content,
      texts,
      matching,
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
    load,
    jobs: [
      (signal, onFailure) =>
        repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, () => content.prune()),
    ],
    close: () => content.close(),
  };
  return { ...feature, capture };
}
