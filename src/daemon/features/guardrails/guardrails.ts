import { createHmac } from 'node:crypto';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import { credentialId, type Identified } from '../../base/handler.ts';
import type { HookRun } from '../metering/index.ts';
import type { ProviderRoute, Route } from '../routing/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import type { UpstreamAnswer } from '../upstreams/upstream.ts';
import { type AskDeps, askHooks, isFor, noteRun } from './ask-hooks.ts';
import { guardedAnswer } from './guarded-answer.ts';
import { type Patterns, type Redacted, Redaction } from './redaction.ts';
import type { Restorer } from './restorer.ts';
import type { GuardrailSettings, Hook, HookMoment, RedactionRules } from './settings.ts';
import { HookFailure } from './verdict.ts';

interface GuardrailDeps extends AskDeps {
  /** Read on each call. */
  settings: { readonly guardrails: GuardrailSettings };
  /** Checks a changed body. Throws an ApiError. */
  check: (endpoint: Endpoint, body: unknown) => void;
  patternsOf: (patterns: readonly string[]) => Patterns;
  /** From which the marks of replaced texts are derived. */
  dataKey: Uint8Array;
}

/** A call before it is read. */
interface IncomingCall<Body> {
  endpoint: Endpoint;
  caller: Identified;
  requestId: string;
  signal: AbortSignal;
  body: Body;
}

/** A call that is to be admitted. */
interface GuardedCall {
  endpoint: string;
  caller: Identified;
  requestId: string;
  inference: Inference;
}

/** Requests that passed and whose call has not begun yet; of more at once, the time of hooks is not shown. */
const checkedMax = 4_096;

interface Checked {
  startedAt: number;
  runs: HookRun[];
}

/** What calls and their answers have to pass. */
export class Guardrails {
  readonly #deps: GuardrailDeps;
  readonly #checked = new RecentMap<string, Checked>(checkedMax);
  #patterns: { of: readonly string[]; patterns: Patterns } | undefined;

  constructor(deps: GuardrailDeps) {
    this.#deps = deps;
  }

  /** Whether hooks have to see requests. */
  get checksRequests(): boolean {
    return this.#hooksOn('request').length > 0;
  }

  /**
   * The body of a request that the hooks let through, as they changed it. Fails with `guardrail_refused`, and with `unavailable` if a
   * hook fails that must not.
   */
  async request<Body extends object>(call: IncomingCall<Body>): Promise<Body> {
    const { endpoint, caller, requestId, signal } = call;
    let { body } = call;
    const { model, stream } = body as { model?: unknown; stream?: unknown };
    const named = typeof model === 'string' ? model : undefined;
    const hooks = this.#hooksOn('request').filter((hook) => isFor(hook, named));
    if (hooks.length === 0) return body;
    const { world } = this.#deps;
    const checked: Checked = { startedAt: world.elapsed(), runs: [] };
    const about = aboutCall({ caller, requestId, endpoint: endpoint.path, isStream: stream === true });
    await askHooks(this.#deps, {
      on: 'request',
      hooks,
      signal,
      runs: checked.runs,
      question: () => ({ on: 'request', ...about, model: named ?? null, body }),
      apply: (changed) => {
        body = this.#changedBody(endpoint, changed.body) as Body;
      },
    });
    this.#checked.set(requestId, checked);
    return body;
  }

  #changedBody(endpoint: Endpoint, body: unknown): unknown {
    if (body === undefined) throw new HookFailure('its change has no body');
    try {
      this.#deps.check(endpoint, body);
    } catch (error) {
      const { param, message } = error as Partial<ApiError>;
      throw new HookFailure(`the body of its change is not valid: ${param ? `${param}: ` : ''}${message}`);
    }
    return body;
  }

  /** What a call has to pass that was read; undefined for nothing. */
  begin(call: GuardedCall): CallGuard | undefined {
    const checked = this.#checked.get(call.requestId);
    if (checked) this.#checked.delete(call.requestId);
    const { redaction } = this.#deps.settings.guardrails;
    const hooks = this.#hooksOn('answer');
    if (checked === undefined && redaction === undefined && hooks.length === 0) return undefined;
    const redact = redaction && {
      models: redaction.models,
      of: (inference: Inference) => this.#redaction(redaction, call.caller.workspaceId).of(inference),
    };
    return new CallGuard(this.#deps, { call, checked, redact, hooks });
  }

  /**
   * A text as it is sent to a model that answers something else than the text, so that nothing has to be put back. Fails with
   * `unavailable` if a pattern takes too long.
   */
  redacted(text: string, { workspaceId, offer }: Pick<ProviderRoute, 'workspaceId' | 'offer'>): string {
    const { redaction } = this.#deps.settings.guardrails;
    if (redaction === undefined || !isFor(redaction, offer.model)) return text;
    return this.#redaction(redaction, workspaceId).text(text);
  }

  /** A request whose input a provider only counts. Fails like `redacted`. */
  counted(inference: Inference, routes: readonly Route[]): Inference {
    const { redaction } = this.#deps.settings.guardrails;
    const [workspaceId] = routes.flatMap((route) => (route.kind === 'provider' ? route.workspaceId : []));
    if (redaction === undefined || workspaceId === undefined || !isForAny(redaction, routes))
      return inference;
    return this.#redaction(redaction, workspaceId).of(inference)?.inference ?? inference;
  }

  #redaction(rules: RedactionRules, workspaceId: string): Redaction {
    const patterns = this.#patternsOf(rules.patterns);
    return new Redaction(rules, { patterns, key: this.#keyOf(workspaceId) });
  }

  #hooksOn(moment: HookMoment): Hook[] {
    return this.#deps.settings.guardrails.hooks.filter(({ on }) => on.includes(moment));
  }

  #patternsOf(of: readonly string[]): Patterns {
    if (this.#patterns?.of !== of) this.#patterns = { of, patterns: this.#deps.patternsOf(of) };
    return this.#patterns.patterns;
  }

  #keyOf(workspaceId: string): Uint8Array {
    return createHmac('sha256', this.#deps.dataKey).update(`gateway redaction ${workspaceId}`).digest();
  }
}

interface CallGuardOptions {
  call: GuardedCall;
  checked: Checked | undefined;
  redact: { models: readonly string[] | undefined; of: Redaction['of'] } | undefined;
  hooks: readonly Hook[];
}

/** What one call and its answer have to pass. */
export class CallGuard {
  readonly #deps: GuardrailDeps;
  readonly #options: CallGuardOptions;
  #restorer: Restorer | undefined;
  #redacted: { redacted: Redacted | undefined; ms: number } | undefined;
  /** What the hooks decided so far, and the redaction. */
  readonly runs: HookRun[];

  constructor(deps: GuardrailDeps, options: CallGuardOptions) {
    this.#deps = deps;
    this.#options = options;
    this.runs = options.checked?.runs ?? [];
  }

  /** When the hooks were asked about the request, by `World.elapsed`; undefined if they were not. */
  get startedAt(): number | undefined {
    return this.#options.checked?.startedAt;
  }

  /** The call without what the redaction replaces, which may be longer; undefined if nothing is. Fails with `unavailable`. */
  get replaced(): Inference | undefined {
    return this.#redact().redacted?.inference;
  }

  #redact() {
    const { call, redact } = this.#options;
    if (this.#redacted !== undefined) return this.#redacted;
    const startedAt = this.#deps.world.elapsed();
    const redacted = redact?.of(call.inference);
    this.#redacted = { redacted, ms: this.#deps.world.elapsed() - startedAt };
    return this.#redacted;
  }

  /** The call as it is sent on these routes. Fails with `unavailable`, and with `unsupported_value` for one whose answer cannot be checked. */
  outgoing(routes: readonly Route[]): Inference {
    const { call, redact, hooks } = this.#options;
    const { inference } = call;
    const mustCheck = hooks.find((hook) => !hook.failsOpen && isForAny(hook, routes));
    const param = mustCheck && unseenBy(inference);
    if (param !== undefined) {
      throw new ApiError('unsupported_value', {
        param,
        message: `The hook ${mustCheck?.name} cannot check a stream with this; send the request without stream.`,
      });
    }
    if (redact === undefined || !isForAny(redact, routes)) return inference;
    const { redacted, ms } = this.#redact();
    const name = 'redaction';
    if (redacted === undefined) {
      noteRun(this.runs, { name, on: 'request', result: 'passed', ms });
      return inference;
    }
    const { count } = redacted;
    const message = `${count} ${count === 1 ? 'text' : 'texts'} replaced`;
    noteRun(this.runs, { name, on: 'request', result: 'changed', ms, message });
    this.#restorer = redacted.restorer;
    return redacted.inference;
  }

  /** The answer as the client gets it: with what was replaced, and as the hooks let it through. */
  async answer(answer: UpstreamAnswer, route: Route, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { call, hooks } = this.#options;
    const { inference, caller, requestId, endpoint } = call;
    if (answer.kind === 'stream' && inference.stream && unseenBy(inference) !== undefined) return answer;
    const restored = this.#restored(answer);
    const asked = hooks.filter((hook) => isFor(hook, route.offer.model));
    if (asked.length === 0) return restored;
    const about = aboutCall({ caller, requestId, endpoint, isStream: inference.stream });
    const questions = { hooks: asked, about, inference, route, signal, runs: this.runs };
    return await guardedAnswer(this.#deps, restored, questions);
  }

  #restored(answer: UpstreamAnswer): UpstreamAnswer {
    const restorer = this.#restorer;
    if (restorer === undefined) return answer;
    if (answer.kind === 'stream') return { ...answer, batches: restorer.batches(answer.batches) };
    return answer.kind === 'json' ? { ...answer, json: restorer.value(answer.json) } : answer;
  }
}

function isForAny(rule: Pick<Hook, 'models'>, routes: readonly Route[]): boolean {
  return routes.some(({ offer }) => isFor(rule, offer.model));
}

/** The member of a streamed call whose answer has more than the neutral form of events; undefined for others. */
function unseenBy({ stream, wire, body, tools }: Inference): string | undefined {
  if (!stream) return undefined;
  if (typeof body.n === 'number' && body.n > 1) return 'n';
  return wire === 'messages' && tools.some(({ type }) => type === 'opaque') ? 'tools' : undefined;
}

interface About {
  caller: Identified;
  requestId: string;
  endpoint: string;
  isStream: boolean;
}

function aboutCall({ caller, requestId, endpoint, isStream }: About) {
  return {
    request_id: requestId,
    endpoint,
    workspace_id: caller.workspaceId,
    key_id: credentialId(caller),
    stream: isStream,
  };
}
