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
