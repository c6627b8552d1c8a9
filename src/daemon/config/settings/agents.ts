import { Type } from 'typebox';
import { parseUsd } from '../../../shared/money/money.ts';
import { dollars, flag, integer, models, oneOf, text, url, variable } from './schemas.ts';
import { type Environment, setting, type Values } from './setting.ts';

export const agentSettings = {
  agents: {
    sign_ups: setting(flag, { default: true }),
    sign_ups_per_address: setting(integer(1, 1_000_000), { default: 5 }),
    difficulty: setting(integer(0, 40, 'a number of bits'), { default: 20 }),
    free_models: setting(models, { default: ['sim/*'] }),
    free_requests: setting(integer(0, 1_000_000), { default: 20 }),
    free_budget_usd: setting(dollars, { default: '0.005' }),
    free_pool_usd: setting(dollars, { default: '0.5' }),
    free_input_tokens: setting(integer(0, 10_000_000), { default: 16_000 }),
  },
  decisions: {
    models: setting(models, { default: [] }),
    daily_budget_usd: setting(dollars, { default: '1' }),
    max_questions: setting(integer(1, 1000), { default: 64 }),
    max_concurrent: setting(integer(1, 10_000), { default: 64 }),
    default_order: setting(oneOf(['engine', 'peer', 'hosted'], 'engine, peer or hosted'), {
      default: 'engine',
    }),
    peer_agreement_share: setting(
      Type.Number({ minimum: 0, maximum: 1, description: 'a share from 0 to 1' }),
      { default: 0 },
    ),
    engine: {
      url: setting(url, { isFileOnly: true }),
      key_env: setting(variable, { isFileOnly: true }),
      model: setting(text),
      flash_model: setting(text),
    },
  },
  engine: {
    memory_mb: setting(integer(64, 10_000_000, 'megabytes'), { default: 8_192 }),
    context_tokens: setting(integer(256, 10_000_000), { default: 4_096 }),
    idle_seconds: setting(integer(1, 1_000_000, 'seconds'), { default: 600 }),
  },
};

export function agentConfig(
  { agents, decisions, engine }: Values<typeof agentSettings>,
  { env }: { env: Environment },
) {
  const { default_order: order, engine: server } = decisions;
  return {
    /** Whether agents may sign up. */
    signUps: {
      isOpen: agents.sign_ups,
      /** Bits of the proof of work. */
      difficulty: agents.difficulty,
      /** A day. */
      perAddress: agents.sign_ups_per_address,
    },
    /** What agents may use for free. Amounts in nano-dollars, a day. */
    freeTier: {
      /** Patterns of model names. */
      models: agents.free_models,
      requests: agents.free_requests,
      budget: parseUsd(agents.free_budget_usd) ?? 0,
      sharedPool: parseUsd(agents.free_pool_usd) ?? 0,
      /** Upper bound of a request's input. */
      inputTokens: agents.free_input_tokens,
    },
    /** Typed decisions. */
    decisions: {
      /** Patterns of the models that the host pays for. */
      models: decisions.models,
      /** What they may cost per UTC day, in nano-dollars. */
      budget: parseUsd(decisions.daily_budget_usd) ?? 0,
      /** Per request. */
      questionsMax: decisions.max_questions,
      /** Decisions that run at a time. */
      concurrentMax: decisions.max_concurrent,
      /** For calls without `X-Decision-Order`; undefined: the engine, then the models. */
      defaultOrder: order === 'engine' ? undefined : order,
      /** The share of the questions answered by peers that another source is also asked: 0 to 1. */
      agreementShare: decisions.peer_agreement_share,
      /** A System One server. */
      engine: {
        url: server.url,
        key: server.key_env === undefined ? undefined : env[server.key_env]?.trim() || undefined,
        /** The server's names of its models. */
        model: server.model,
        flashModel: server.flash_model,
      },
    },
    /** The embedded engine. */
    engine: {
      memoryBytes: engine.memory_mb * 1024 ** 2,
      contextTokens: engine.context_tokens,
      idleMs: engine.idle_seconds * 1000,
    },
  };
}
