import { nearestEffort } from '../../../shared/calls/efforts.ts';
import { asksForNothing } from '../../../shared/formats/asks-for-nothing.ts';
import { listOf } from '../../../shared/json/json-object.ts';
import type { Dropped } from '../../features/upstreams/upstream.ts';
import { type Json, objectOf } from '../json.ts';
import { type ModelTraits, traitsOf } from './openai-models.ts';

/** A request in one of OpenAI's formats, and the paths of what was left out of it or reduced. */
export interface FittedBody {
  body: Json;
  dropped: Dropped[];
}

const sampled = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];
const penalties = ['presence_penalty', 'frequency_penalty', 'logit_bias'];
const sealedReasoning = 'reasoning.encrypted_content';
const logprobs = 'message.output_text.logprobs';

/**
 * The body of a request in either of OpenAI's formats without the options that its model would refuse. The same body if its
 * model takes all of them, or is not known. `keepsLogprobs`: log probabilities are needed, even if they may be refused. More stop
 * sequences than `stopsMax` are left to the gateway. Source: BerriAI/litellm#18921.
 */
export function fittedToModel(
  body: Json,
  { keepsLogprobs = false, stopsMax = Number.POSITIVE_INFINITY } = {},
): FittedBody {
  const traits = traitsOf(String(body.model));
  const hasManyStops = listOf(body.stop).length > stopsMax;
  if (traits === undefined && !hasManyStops) return { body, dropped: [] };
  const fitting = new Fitting(body);
  if (hasManyStops) fitting.drop('stop');
  if (traits === undefined) return fitting;
  fitEffort(fitting, traits);
  const effort = effortIn(fitting.body);
  const reasons = effort === undefined ? traits.reasonsByDefault : effort !== 'none';
  if (traits.sampling === 'never' || (traits.sampling === 'without-reasoning' && reasons)) {
    for (const name of sampled) if (!keepsLogprobs || !/logprobs/.test(name)) fitting.drop(name);
    if (!keepsLogprobs) fitting.exclude(logprobs);
  }
  if (!traits.supportsPenalties) for (const name of penalties) fitting.drop(name);
  if (!traits.supportsStop) fitting.drop('stop');
  if (!traits.supportsVerbosity) {
    if (fitting.body.verbosity !== 'medium') fitting.drop('verbosity');
    if (objectOf(fitting.body.text)?.verbosity !== 'medium') fitting.drop('text.verbosity');
  }
  // Such models make one call at a time anyway.
  if (!traits.supportsParallelCalls) fitting.drop('parallel_tool_calls', { isReported: false });
  return fitting;
}

function effortIn({ reasoning_effort: own, reasoning }: Json): unknown {
  return own ?? objectOf(reasoning)?.effort ?? undefined;
}

function fitEffort(fitting: Fitting, traits: ModelTraits): void {
  if (traits.efforts.length === 0) {
    fitting.drop('reasoning_effort');
    for (const name of Object.keys(objectOf(fitting.body.reasoning) ?? {})) fitting.drop(`reasoning.${name}`);
    fitting.drop('reasoning', { isReported: false });
    // There is nothing to encrypt.
    fitting.exclude(sealedReasoning, { isReported: false });
    return;
  }
  for (const path of ['reasoning_effort', 'reasoning.effort']) {
    const asked = fitting.valueAt(path);
    if (typeof asked !== 'string' || traits.efforts.includes(asked)) continue;
    const nearest = nearestEffort(asked, traits.efforts);
    if (nearest === undefined) fitting.drop(path);
    else fitting.reduce(path, nearest);
  }
}

/** A body that is changed member by member, without touching the caller's. */
class Fitting implements FittedBody {
  body: Json;
  readonly dropped: Dropped[] = [];

  constructor(body: Json) {
    this.body = body;
  }

  valueAt(path: string): unknown {
    const [name = '', member] = path.split('.');
    const value = this.body[name];
    return member === undefined ? value : objectOf(value)?.[member];
  }

  drop(path: string, { isReported = true } = {}): void {
    const value = this.valueAt(path);
    if (value === undefined) return;
    this.#set(path, undefined);
    const name = path.slice(path.lastIndexOf('.') + 1);
    if (isReported && !asksForNothing(name, value)) this.dropped.push({ param: path });
  }

  reduce(path: string, value: string): void {
    this.#set(path, value);
    this.dropped.push({ param: path });
  }

  exclude(entry: string, { isReported = true } = {}): void {
    const included = listOf(this.body.include);
    const at = included.indexOf(entry);
    if (at < 0) return;
    const left = included.filter((each) => each !== entry);
    this.body = { ...this.body, include: left.length > 0 ? left : undefined };
    if (isReported) this.dropped.push({ param: 'include' });
  }

  #set(path: string, value: unknown): void {
    const [name = '', member] = path.split('.');
    if (member === undefined) this.body = { ...this.body, [name]: value };
    else this.body = { ...this.body, [name]: { ...objectOf(this.body[name]), [member]: value } };
  }
}
