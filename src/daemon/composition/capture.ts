import { Capture, captureHandlers } from '../features/capture/index.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';

/** The content of calls. */
export function createCaptureFeature(
  { content, settings, world }: AppDeps,
  { hostWorkspace }: Pick<Accounts, 'hostWorkspace'>,
) {
  const feature: Feature = {
    handlers: captureHandlers({ store: content, settings: settings.capture }),
    close: () => content.close(),
  };
  const capture = new Capture({
    store: content,
    settings: settings.capture,
    hostWorkspaceId: () => hostWorkspace.id,
    world,
  });
  return { ...feature, capture };
}
