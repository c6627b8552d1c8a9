import { trimEnd } from '../../../shared/text/trim-text.ts';
import type { World } from '../../base/world.ts';
import type { DecisionEngine, DecisionRequest, EngineName } from '../../features/decisions/index.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { noDecisions, sendDecision } from './decision-endpoint.ts';
import { systemOne } from './decision-format.ts';

/** A System One server in the configuration; a reload changes it. */
export interface SystemOneSettings {
  /** Undefined for none. */
  readonly url: string | undefined;
  readonly key: string | undefined;
  /** The server's names of its models. */
  readonly model: string | undefined;
  readonly flashModel: string | undefined;
}

/** A System One server as an engine of the host. */
export function systemOneEngine(
  { send }: Pick<World, 'send'>,
  name: EngineName,
  settings: SystemOneSettings,
): DecisionEngine {
  const modelOf = () => (name === 'engine' ? settings.model : settings.flashModel);
  const setting = name === 'engine' ? 'decisions.engine.model' : 'decisions.engine.flash_model';
  return {
    status() {
      if (settings.url === undefined) {
        return {
          available: false,
          reason: 'no decision engine is configured: set decisions.engine.url to a System One server',
        };
      }
      const identity = modelOf();
      if (identity === undefined)
        return { available: false, reason: `no model is configured: set ${setting}` };
      return { available: true, identity, method: 'native' };
    },
    async ask({ input, questions }, signal) {
      const { url, key } = settings;
      const model = modelOf();
      if (url === undefined || model === undefined) throw noDecisions(name);
      const request: DecisionRequest = {
        input,
        questions: questions.map((question) => ({ ...question, name: null })),
      };
      const endpoint = { name, url: systemOneUrl(url), format: systemOne };
      const answer = await sendDecision(send, endpoint, { model, key, request }, signal);
      if (answer === undefined) throw noDecisions(name);
      const answers = answer.answers.map((each) => {
        if (each === 'refused') return { refused: true as const };
        if (each === undefined)
          throw new UpstreamFailure('broken', `${name} sent an answer of another shape`);
        return { probabilities: each };
      });
      return { answers, tokens: answer.tokens };
    },
  };
}

/** The path is optional: `http://127.0.0.1:11434` means its `/v1/systemone`. */
export function systemOneUrl(url: string): string {
  const base = trimEnd(url, '/');
  if (base.endsWith('/systemone')) return base;
  return base.endsWith('/v1') ? `${base}/systemone` : `${base}/v1/systemone`;
}
