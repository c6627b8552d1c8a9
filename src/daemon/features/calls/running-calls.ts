import { TransientMap } from '../../../shared/async/transient.ts';

interface RunningCall {
  workspaceId: string;
  cancel: (reason: 'canceled' | 'cut-off') => void;
}

/** The admitted calls of this process that are not over, by request. */
export class RunningCalls {
  readonly #calls = new TransientMap<string, RunningCall>();

  /** Returns a function that forgets the call; to be called when it is over. */
  add(requestId: string, call: RunningCall): () => void {
    this.#calls.set(requestId, call);
    return () => {
      // A request may make several calls, one after another.
      if (this.#calls.get(requestId) === call) this.#calls.delete(requestId);
    };
  }

  /** Ends a call of the workspace as its client could. Returns whether there was one. */
  cancel(workspaceId: string, requestId: string): boolean {
    const call = this.#calls.get(requestId);
    if (call?.workspaceId !== workspaceId) return false;
    call.cancel('canceled');
    return true;
  }

  /** Ends all calls, as another daemon may settle them now. */
  cutOff(): void {
    for (const call of this.#calls.values()) call.cancel('cut-off');
  }
}
