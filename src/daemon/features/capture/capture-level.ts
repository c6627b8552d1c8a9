import type { Identified } from '../../handler.ts';
import { type CaptureLevel, captureLevels } from './store.ts';

export interface CaptureSettings {
  /** The most that is kept. */
  content: CaptureLevel;
  /** Whether calls with `store: false` are left out. */
  honoursStoreFalse: boolean;
}

interface CaptureRequest {
  caller: Pick<Identified, 'kind' | 'workspaceId'>;
  /** `x-service-capture` of the request. */
  header: string | string[] | undefined;
  /** `store` of the request. */
  store: unknown;
}

/**
 * Where the content of a call is kept; the only place that decides it. A request may ask for less than the host keeps.
 * Agents, and workspaces other than the host's, have to ask for it, as they may not know the host.
 */
export function captureLevel(
  { caller, header, store }: CaptureRequest,
  { content, honoursStoreFalse }: CaptureSettings,
  hostWorkspaceId: string | undefined,
): CaptureLevel {
  if (content === 'off' || (honoursStoreFalse && store === false)) return 'off';
  const isHosts = caller.kind !== 'agent' && caller.workspaceId === hostWorkspaceId;
  if (header === undefined) return isHosts ? content : 'off';
  const asked = captureLevels.find((level) => level === header);
  // What was meant by another value is unknown.
  if (asked === undefined) return 'off';
  return captureLevels.indexOf(asked) < captureLevels.indexOf(content) ? asked : content;
}
