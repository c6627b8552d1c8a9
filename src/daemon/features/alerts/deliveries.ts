import { version } from '../../../shared/version.ts';
import type { Log } from '../../base/log.ts';
import { NetworkFailure, repeatedly, type World } from '../../base/world.ts';
import { formedMessage, quietRefusal } from './hook-forms.ts';
import { signedHeaders } from './hook-signature.ts';
import type { Hooks } from './hooks.ts';
import type { AlertsStore, DeliveryRecord } from './store.ts';

/** How long after the start of an attempt the next one is due, in milliseconds; the last has none. */
const retriesAfterMs = [5_000, 60_000, 600_000, 3_600_000, 4 * 3_600_000, 12 * 3_600_000];
const attemptsMax = retriesAfterMs.length + 1;
/** Of these answers, a later attempt may have another one; all others from 400 to 499 are final. */
const mayPass: readonly number[] = [408, 429];
/** For one attempt; shorter than the first wait, so that no two run at once. */
const timeoutMs = 4_500;
/** How long the last attempt may be without a result, as after a kill of the daemon, before it counts as failed. */
const lastAttemptMs = 30_000;
/** Of the receivers whose answers are read. */
const answerBytesMax = 64 * 1024;
const checkEveryMs = 1_000;
const atOnceMax = 20;

export interface DeliveriesDeps {
  store: AlertsStore;
  hooks: Hooks;
  world: Pick<World, 'now' | 'sleep' | 'send'>;
  log: Pick<Log, 'warn'>;
}

type Outcome = Pick<DeliveryRecord, 'httpStatus' | 'failure'>;

/**
 * Sends messages to web hooks: seven attempts each within some 17 hours, also across restarts. A message is sent again with the
 * same id if the daemon died before its answer was recorded. One that waits gives way to a newer state of its alert.
 */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  /** Whether messages may be pending. */
  #isUnsure = true;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /** Looks for due messages at the next check. */
  wake(): void {
    this.#isUnsure = true;
  }

  /** Sends what is due, until aborted. */
  keepSending(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { world } = this.#deps;
    return repeatedly(world, { everyMs: checkEveryMs, signal, onFailure }, async () => {
      if (!this.#isUnsure) return;
      this.#isUnsure = false;
      try {
        await this.#sendDue(signal);
      } catch (error) {
        this.#isUnsure = true;
        throw error;
      }
    });
  }

  /** Makes one attempt, unless another one was begun. */
  async attempt(delivery: DeliveryRecord, signal?: AbortSignal): Promise<void> {
    const { store, world, log } = this.#deps;
    const { id, attempts } = delivery;
    const waitMs = retriesAfterMs[attempts];
    const nextAt = world.now() + (waitMs ?? lastAttemptMs);
    this.#isUnsure = true;
    const givenUp =
      attempts >= attemptsMax
        ? 'The daemon stopped during the last attempt.'
        : attempts > 0 && (await this.#isOutdated(delivery))
          ? 'A newer message of the alert took its place.'
          : undefined;
    if (givenUp !== undefined) {
      await store.attempted({
        id,
        attempt: attempts,
        state: 'failed',
        nextAt: null,
        httpStatus: null,
        failure: givenUp,
      });
      return;
    }
    if (!(await store.claimDelivery({ id, attempts }, nextAt))) return;
    const outcome = await this.#send(delivery, signal);
    // What a stop of the daemon interrupted is sent again at the next start.
    if (signal?.aborted) return;
    const isDelivered = outcome.failure === null;
    const { httpStatus } = outcome;
    const isFinal = httpStatus !== null && isLasting(httpStatus);
    const isOver = isDelivered || isFinal || waitMs === undefined;
    const state = isDelivered ? 'delivered' : isOver ? 'failed' : 'pending';
    await store.attempted({ id, attempt: attempts + 1, state, nextAt: isOver ? null : nextAt, ...outcome });
    if (state === 'failed') {
      const { alertId: alert, type } = delivery;
      log.warn({ alert, type, delivery: id, failure: outcome.failure }, 'a message to a web hook failed');
    }
  }

  async #sendDue(signal: AbortSignal): Promise<void> {
    const { store, world } = this.#deps;
    const due = await store.dueDeliveries(world.now(), atOnceMax);
    await Promise.all(due.map((delivery) => this.attempt(delivery, signal)));
    if (due.length > 0 || (await store.hasPending())) this.#isUnsure = true;
  }

  /** Whether the alert is in another state by now, of which there is a message. */
  async #isOutdated({ workspaceId, alertId, type }: DeliveryRecord): Promise<boolean> {
    const alert = await this.#deps.store.byId(workspaceId, alertId);
    if (!alert) return false;
    return alert.state === 'firing' ? type === 'alert.resolved' : type === 'alert.fired';
  }

  /** Never rejects. */
  async #send(delivery: DeliveryRecord, signal?: AbortSignal): Promise<Outcome> {
    const { store, hooks, world } = this.#deps;
    const { id, workspaceId, alertId } = delivery;
    const owner = { workspaceId, id: alertId };
    const alert = await store.byId(workspaceId, alertId);
    const hook = alert?.hook;
    if (!hook) return { httpStatus: null, failure: 'The alert has no web hook any more.' };
    const open = hooks.open(owner, hook);
    if (!open) return { httpStatus: null, failure: 'The web hook cannot be decrypted; set it again.' };
    const problem = hooks.problemOf(open.url, hook);
    if (problem !== undefined) return { httpStatus: null, failure: `The address ${problem}.` };
    const { body, headers, mayRefuseQuietly } = formedMessage(open.url, delivery.body, hook.format);
    try {
      const answer = await world.send({
        method: 'POST',
        url: open.url,
        headers: {
          ...headers,
          'user-agent': `gateway/${version}`,
          ...signedHeaders({ id, body, at: world.now() }, open.secret),
        },
        body,
        publicOnly: !hook.mayBePrivate,
        totalTimeoutMs: timeoutMs,
        ...(signal && { signal }),
      });
      const { status } = answer;
      const isAccepted = status >= 200 && status < 300;
      if (isAccepted && mayRefuseQuietly) {
        const said = new TextDecoder().decode(await answer.body.bytes(answerBytesMax));
        return { httpStatus: status, failure: quietRefusal(said) ?? null };
      }
      answer.body.cancel();
      return { httpStatus: status, failure: isAccepted ? null : refusalOf(status) };
    } catch (error) {
      return { httpStatus: null, failure: failureOf(error, hook) };
    }
  }
}

/** Whether the receiver would answer the same way again. */
function isLasting(status: number): boolean {
  return status === 301 || status === 308 || (status >= 400 && status < 500 && !mayPass.includes(status));
}

function refusalOf(status: number): string {
  if (status < 300 || status >= 400) return `The receiver answered with HTTP ${status}.`;
  return `The receiver redirects (HTTP ${status}), which is not followed: set the address that it redirects to.`;
}

/** Without addresses, unless the owner of the host chose them. */
function failureOf(error: unknown, { mayBePrivate }: { mayBePrivate: boolean }): string {
  if (!(error instanceof NetworkFailure)) return 'The message could not be sent.';
  return mayBePrivate ? error.message : (error.reason ?? `No answer (${error.kind}).`);
}
