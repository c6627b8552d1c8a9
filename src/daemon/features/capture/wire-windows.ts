/** How long streams of a workspace, or of one of its keys, are kept as they are. */
interface WireWindow {
  /** Null for all calls of the workspace. */
  keyId: string | null;
  /** Milliseconds since 1970. */
  until: number;
}

/** The most windows of a workspace. */
const windowsMax = 100;

/** The times in which the bytes of streams are kept, too. A restart ends them. */
export class WireWindows {
  readonly #now: () => number;
  readonly #windows = new Map<string, WireWindow[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Replaces the one of the same key. */
  open(workspaceId: string, window: WireWindow): void {
    const others = this.of(workspaceId).filter(({ keyId }) => keyId !== window.keyId);
    this.#windows.set(workspaceId, [...others, window].slice(-windowsMax));
  }

  close(workspaceId: string): void {
    this.#windows.delete(workspaceId);
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
