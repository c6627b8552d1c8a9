import { sseDone } from '../../../../../shared/sse.ts';
import type { Json } from '../../fault.ts';
import { asApiError, type InferenceDeps, type StartedCall } from '../../pipeline/start-call.ts';
import { ResponseSession, type ResponseStart } from '../request/respond.ts';
import type { BackgroundEnd, BackgroundStore } from './background-store.ts';
import { closingEvents, failedResponse, responseOf } from './closing-events.ts';
import type { EventLog } from './event-log.ts';
import { countEvents } from './event-text.ts';

export interface RunOptions {
  start: ResponseStart;
  serviceEvents: boolean;
  /** Where its events go, if they are kept. */
  log: EventLog | undefined;
  /** Ends the provider's work; with the reason `draining` the response fails, with any other it is cancelled. */
  abort: AbortController;
}

interface Ended extends Pick<BackgroundEnd, 'body' | 'output'> {
  /** Its last events. */
  text: string;
}

/** One response on its way in the background. */
export class Run {
  readonly id: string;
  readonly workspaceId: string;
  readonly log: EventLog | undefined;
  readonly #deps: InferenceDeps;
  readonly #options: RunOptions;
  /** Resolves when the response is a stored one. Never rejects. */
  readonly ended: Promise<void>;
  #status: 'queued' | 'in_progress' = 'queued';

  constructor(
    deps: InferenceDeps & { background: BackgroundStore },
    options: RunOptions,
    { beginning, stored }: { beginning: Promise<StartedCall>; stored: Promise<void> },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.id = String(options.start.resource.id);
    this.workspaceId = options.start.workspaceId;
    this.log = options.log;
    this.ended = this.#carryOut(deps.background, beginning, stored);
  }

  /** What differs from the response as it was queued. */
  get now(): { status: string; model: unknown } {
    return { status: this.#status, model: this.#options.start.resource.model };
  }

  end(reason: 'cancelled' | 'draining'): void {
    this.#options.abort.abort(reason);
  }

  async #carryOut(
    store: BackgroundStore,
    beginning: Promise<StartedCall>,
    stored: Promise<void>,
  ): Promise<void> {
    const { log } = this;
    // Whatever becomes of it is looked at when its time comes.
    beginning.catch(() => {});
    const isKept = await stored.then(
      () => true,
      () => false,
    );
    if (!isKept) this.end('cancelled');
    try {
      const { body, output, text } = await this.#answer(beginning);
      if (!isKept) return;
      const lastSequence = log ? log.lastSequence + countEvents(text) : null;
      await store.finish({ id: this.id, body, output, lastSequence });
      await log?.append(text);
    } catch (error) {
      this.#deps.log.warn({ err: error, response_id: this.id }, 'a background response could not be stored');
    } finally {
      await this.#options.start.run?.end();
      await log?.end();
    }
  }

  async #answer(beginning: Promise<StartedCall>): Promise<Ended> {
    const { start, serviceEvents, log, abort } = this.#options;
    let started: StartedCall;
    try {
      started = await beginning;
    } catch (error) {
      const wasCancelled = abort.signal.reason === 'cancelled';
      const { code, message } = asApiError(error);
      return this.#closed(
        wasCancelled
          ? { ...start.resource, status: 'cancelled' }
          : failedResponse(start.resource, { code, message }),
      );
    }
    this.#status = 'in_progress';
    const answer = new ResponseSession(this.#deps, start, started);
    let output = '[]';
    const { chunks } = answer.stream({
      serviceEvents,
      wasQueued: true,
      keep: async (settled) => {
        output = answer.sealedOutput(settled);
        await answer.joinThread(settled);
      },
    });
    for await (const chunk of chunks) {
      const response = responseOf(chunk);
      if (response) return { body: response, output, text: chunk.slice(0, -sseDone.length) };
      await log?.append(chunk);
    }
    // Only an answer that was cancelled ends without its last events.
    const settled = await started.meter.settle({ status: 'canceled' }).catch(() => undefined);
    return this.#closed(answer.cancelled(settled));
  }

  #closed(response: Json): Ended {
    const text = closingEvents(response, (this.log?.lastSequence ?? -1) + 1);
    return { body: JSON.stringify(response), output: '[]', text };
  }
}
