import { noTokens } from '../calls/index.ts';
import type { DecisionEngine } from './engine.ts';
import { asked, described, evidenceDocument } from './prompt.ts';

/** A model of the host that gives probabilities of options. */
export interface EmbeddedModel {
  /** `qwen3-4b-q4@sha256:…` */
  identity: string;
  /** Rejects as `DecisionEngine.ask` does. */
  decide(
    request: { document: string; questions: readonly { instruction: string; options: readonly string[] }[] },
    signal: AbortSignal,
  ): Promise<{ probabilities: readonly (readonly number[])[]; inputTokens: number }>;
}

/**
 * The engine of a System One server, where the configuration names one with a model for this purpose, else that of a model
 * of the host.
 */
export function eitherEngine(
  server: DecisionEngine,
  embedded: DecisionEngine,
  hasServer: () => boolean,
): DecisionEngine {
  const chosen = () => {
    if (server.status().available) return server;
    return embedded.status().available || !hasServer() ? embedded : server;
  };
  return { status: () => chosen().status(), ask: (request, signal) => chosen().ask(request, signal) };
}

/** A model of the host as an engine; `find` returns a reason instead where it has none to use. */
export function embeddedEngine(find: () => EmbeddedModel | { reason: string }): DecisionEngine {
  return {
    status() {
      const found = find();
      if ('reason' in found) return { available: false, reason: found.reason };
      return { available: true, identity: found.identity, method: 'token_probabilities' };
    },
    async ask({ input, questions }, signal) {
      const found = find();
      if ('reason' in found) throw new TypeError(found.reason);
      const { probabilities, inputTokens } = await found.decide(
        {
          document: evidenceDocument(input),
          questions: questions.map((question) => ({
            instruction: asked(question),
            options: question.options.map(described),
          })),
        },
        signal,
      );
      return {
        answers: probabilities.map((each) => ({ probabilities: each })),
        tokens: { ...noTokens, input: inputTokens },
      };
    },
  };
}
