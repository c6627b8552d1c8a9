import { type CaptureLevel, captureLevels, lesserLevel } from '../../../shared/constants/capture-levels.ts';
import type { Changes } from '../../base/changes.ts';
import type { Identified, KeyPolicy } from '../../base/handler.ts';

export interface CaptureSettings {
  /** The most that is kept. */
  content: CaptureLevel;
  /** Whether calls with `store: false` are left out. */
  honoursStoreFalse: boolean;
}

/** What decided where content is kept: the configuration, or the rule that only the host’s own is kept by default. */
export type LevelSource = 'host' | 'workspace' | 'key' | 'unasked';

export interface LevelCaller {
  caller: Pick<Identified, 'kind' | 'workspaceId'> & { policy?: KeyPolicy };
  settings: CaptureSettings;
  hostWorkspaceId: string | undefined;
  /** What the workspace has decided. */
  workspaceLevel: CaptureLevel | undefined;
}

interface CaptureRequest extends LevelCaller {
  /** `x-service-capture` of the request. */
  header: string | string[] | undefined;
  /** `store` of the request. */
  store: unknown;
}

interface CallerLevel {
  /** For a call that does not choose. */
  usual: CaptureLevel;
  /** The most that a call can choose. */
  most: CaptureLevel;
  source: LevelSource;
}

/**
 * Where the content of a caller's calls is kept: as the host, the workspace and the key decide, of which none can keep more
 * than those before it. Agents, and workspaces other than the host's, have to ask for it, as they may not know the host.
 */
export function callerLevel({ caller, settings, hostWorkspaceId, workspaceLevel }: LevelCaller): CallerLevel {
  let most = settings.content;
  let source: LevelSource = 'host';
  let isAsked = false;
  const bound = (level: CaptureLevel, by: LevelSource): void => {
    isAsked = true;
    if (most !== 'off' && lesserLevel(level, most) === level) source = by;
    most = lesserLevel(level, most);
  };
  if (workspaceLevel !== undefined) bound(workspaceLevel, 'workspace');
  for (let key = caller.policy; key; key = key.parent) {
    const level = key.defaults?.capture ?? undefined;
    if (level !== undefined) bound(level, 'key');
  }
  const isHosts = caller.kind !== 'agent' && caller.workspaceId === hostWorkspaceId;
  const isUnasked = !isAsked && !isHosts && most !== 'off';
  return isUnasked ? { usual: 'off', most, source: 'unasked' } : { usual: most, most, source };
}

/** Where the content of a call is kept; the only place that decides it. A request may ask for less than its caller’s level. */
export function captureLevel({ header, store, ...about }: CaptureRequest): CaptureLevel {
  const { content, honoursStoreFalse } = about.settings;
  if (content === 'off' || (honoursStoreFalse && store === false)) return 'off';
  const { usual, most } = callerLevel(about);
  if (header === undefined) return usual;
  const asked = captureLevels.find((level) => level === header);
  // Another value may have meant less.
  return asked === undefined ? 'off' : lesserLevel(asked, most);
}

interface LevelStore {
  workspace(workspaceId: string): Promise<{ capture: CaptureLevel | null } | undefined>;
  captureLevels(): Promise<{ workspaceId: string; capture: CaptureLevel }[]>;
}

/** What workspaces let the host keep, where they have decided it; few do. */
export class WorkspaceLevels {
  readonly #store: LevelStore;
  readonly #levels = new Map<string, CaptureLevel>();

  constructor(store: LevelStore, changes: Changes) {
    this.#store = store;
    changes.subscribe('workspace', async ({ workspaceId }) => {
      const workspace = await store.workspace(workspaceId);
      this.#set(workspaceId, workspace?.capture ?? null);
    });
  }

  async load(): Promise<void> {
    for (const { workspaceId, capture } of await this.#store.captureLevels()) this.#set(workspaceId, capture);
  }

  of(workspaceId: string): CaptureLevel | undefined {
    return this.#levels.get(workspaceId);
  }

  #set(workspaceId: string, level: CaptureLevel | null): void {
    if (level === null) this.#levels.delete(workspaceId);
    else this.#levels.set(workspaceId, level);
  }
}

/** How long streams of a workspace, or of one of its keys, are kept as they are. */
export interface WireWindow {
  /** Null for all calls of the workspace. */
  keyId: string | null;
  /** Milliseconds since 1970. */
  until: number;
}

type OnWires = (workspaceId: string, windows: readonly WireWindow[]) => void;

/** The most windows of a workspace. */
const windowsMax = 100;

/** The times in which the bytes of streams are kept, too. A restart ends them. */
export class WireWindows {
  readonly #now: () => number;
  readonly #windows = new Map<string, WireWindow[]>();

  readonly #onChange: OnWires | undefined;

  /** `onChange` is called with the windows of a workspace when they change. */
  constructor(now: () => number, onChange?: OnWires) {
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Replaces the one of the same key. */
  open(workspaceId: string, window: WireWindow): void {
    const others = this.of(workspaceId).filter(({ keyId }) => keyId !== window.keyId);
    this.replace(workspaceId, [...others, window].slice(-windowsMax));
  }

  /** Replaces all of a workspace. */
  replace(workspaceId: string, windows: readonly WireWindow[]): void {
    this.#windows.set(workspaceId, [...windows]);
    this.#onChange?.(workspaceId, windows);
  }

  close(workspaceId: string): void {
    this.replace(workspaceId, []);
  }

  of(workspaceId: string): WireWindow[] {
    const known = this.#windows.get(workspaceId);
    if (known === undefined) return [];
    const open = known.filter(({ until }) => until > this.#now());
    if (open.length === 0) this.#windows.delete(workspaceId);
    else this.#windows.set(workspaceId, open);
    return open;
  }

  isOpen(workspaceId: string, keyId: string | null): boolean {
    if (this.#windows.size === 0) return false;
    return this.of(workspaceId).some((window) => window.keyId === null || window.keyId === keyId);
  }
}
