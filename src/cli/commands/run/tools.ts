import { gatewayKeyHeader } from '../../../shared/http/gateway-key.ts';

/** How a tool is started. */
export interface ToolTarget {
  /** The address of the gateway, without a trailing slash. */
  url: string;
  key: string;
  model: string;
  /** In tokens; null if unknown. */
  contextLength: number | null;
  outputTokensMax: number | null;
}

/** How a tool is pointed at the gateway. Nothing here is written to a file. */
export interface ToolSettings {
  env: Record<string, string>;
  /** Variables that would send calls elsewhere. */
  unset?: readonly string[];
  /** For what the tool does not read from the environment; they come before the user's own. Never the key. */
  args?: readonly string[];
}

/** A program that calls models. */
export interface Tool {
  /** The name of its program. */
  command: string;
  title: string;
  /** The command that installs it. */
  install: string;
  settings(target: ToolTarget): ToolSettings;
  /** The same for a tool that calls models with its own login, beside which the key is sent; with its own model by default. */
  subscription?(target: Pick<ToolTarget, 'url' | 'key'> & { model: string | undefined }): ToolSettings;
}

/** The variable with the key, for tools whose settings name the variable to read. */
const keyVariable = 'GATEWAY_API_KEY';

/** With one of these, Claude Code calls another provider. */
const otherPlaces = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_FOUNDRY', 'CLAUDE_CODE_USE_VERTEX'];
const tokens = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/**
 * Variables in the files of Claude Code's settings replace those of its environment, and would send its calls elsewhere; an argument
 * replaces both. Source: ollama/ollama#16097, lmstudio-ai/lms#561.
 */
function overFiles(env: Record<string, string>, more: { apiKeyHelper?: string } = {}): string[] {
  const empty = Object.fromEntries([...tokens, ...otherPlaces].map((name) => [name, '']));
  return ['--settings', JSON.stringify({ env: { ...empty, ...env }, ...more })];
}

/**
 * Claude Code. Source: code.claude.com/docs/en/env-vars and /model-config. It asks for models by class for its own purposes,
 * such as titles; all of them are set to the chosen one. For models that it does not know, it assumes a default context length.
 */
const claudeCode: Tool = {
  command: 'claude',
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code',
  settings: ({ url, key, model, contextLength }) => {
    const env = {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_FABLE_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_SUBAGENT_MODEL: model,
      ...(contextLength !== null && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextLength) }),
    };
    return {
      env: { ...env, ANTHROPIC_AUTH_TOKEN: key, [keyVariable]: key },
      unset: ['ANTHROPIC_API_KEY', ...otherPlaces],
      args: overFiles(env, { apiKeyHelper: `"${process.execPath}" -p process.env.${keyVariable}` }),
    };
  },
  subscription: ({ url, key, model }) => {
    const env = { ANTHROPIC_BASE_URL: url, ...(model !== undefined && { ANTHROPIC_MODEL: model }) };
    return {
      env: { ...env, ANTHROPIC_CUSTOM_HEADERS: `${gatewayKeyHeader}: ${key}` },
      unset: [...tokens, ...otherPlaces],
      args: overFiles(env),
    };
  },
};

/** Codex. Source: its configuration reference; the value of `-c` is TOML, of which JSON strings are a part. */
const codex: Tool = {
  command: 'codex',
  title: 'Codex',
  install: 'npm install -g @openai/codex',
  settings({ url, key, model, contextLength }) {
    const text = JSON.stringify;
    const provider = `{name="Gateway",base_url=${text(`${url}/v1`)},env_key="${keyVariable}",wire_api="responses"}`;
    return {
      env: { [keyVariable]: key },
      args: [
        ...['-c', 'model_provider="gateway"', '-c', `model_providers.gateway=${provider}`],
        ...['-c', `model=${text(model)}`],
        ...(contextLength === null ? [] : ['-c', `model_context_window=${contextLength}`]),
      ],
    };
  },
  subscription({ url, key, model }) {
    const text = JSON.stringify;
    const headers = `{${text(gatewayKeyHeader)}="${keyVariable}"}`;
    const provider = `{name="Gateway",base_url=${text(`${url}/v1`)},wire_api="responses",requires_openai_auth=true,env_http_headers=${headers}}`;
    return {
      env: { [keyVariable]: key },
      args: [
        ...['-c', 'model_provider="gateway"', '-c', `model_providers.gateway=${provider}`],
        ...(model === undefined ? [] : ['-c', `model=${text(model)}`]),
      ],
    };
  },
};

/** The agents that OpenCode has without a configuration, for each of which a file can name a model of its own. */
const openCodeAgents = ['build', 'compaction', 'explore', 'general', 'plan', 'summary', 'title'];

/**
 * OpenCode. Source: opencode.ai/docs/config, /docs/providers and /docs/agents; the inline configuration overrides its files. Models of
 * other providers would be called past the gateway.
 */
const openCode: Tool = {
  command: 'opencode',
  title: 'OpenCode',
  install: 'npm install -g opencode-ai',
  settings({ url, key, model, contextLength: context, outputTokensMax: output }) {
    const limit = context !== null && output !== null && { limit: { context, output } };
    const name = `gateway/${model}`;
    const config = {
      model: name,
      small_model: name,
      agent: Object.fromEntries(openCodeAgents.map((agent) => [agent, { model: name }])),
      enabled_providers: ['gateway'],
      provider: {
        gateway: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Gateway',
          options: { baseURL: `${url}/v1`, apiKey: `{env:${keyVariable}}` },
          models: { [model]: { name: model, ...limit } },
        },
      },
    };
    return { env: { [keyVariable]: key, OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
  },
};

/**
 * Aider. Source: aider.chat/docs/llms/openai-compat.html and /docs/config/options.html. A file `.env` of the repository replaces the
 * variables of OpenAI's SDK, but not its own; files of its configuration name models for other purposes.
 */
const aider: Tool = {
  command: 'aider',
  title: 'Aider',
  install: 'uv tool install aider-chat',
  settings: ({ url, key, model }) => ({
    env: { OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key, AIDER_OPENAI_API_KEY: key },
    args: [
      ...['--openai-api-base', `${url}/v1`],
      ...['--model', '--weak-model', '--editor-model'].flatMap((option) => [option, `openai/${model}`]),
      '--no-show-model-warnings',
    ],
  }),
};

/** Qwen Code, a relative of Gemini CLI with OpenAI's format. Source: its documentation on authentication. */
const qwenCode: Tool = {
  command: 'qwen',
  title: 'Qwen Code',
  install: 'npm install -g @qwen-code/qwen-code',
  settings: ({ url, key, model }) => ({
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
    args: ['--auth-type', 'openai', '--openai-base-url', `${url}/v1`, '--model', model],
  }),
};

export const tools: readonly Tool[] = [claudeCode, codex, openCode, aider, qwenCode];

/** Tools that users ask for and that cannot be started like this: why, and what to do. */
const unsupported: Readonly<Record<string, string>> = {
  gemini: "Gemini CLI only speaks Gemini's own format. Qwen Code is based on it: gateway run qwen",
  cursor: 'Cursor calls models from its own servers, which cannot reach this gateway.',
  cline: 'Cline runs in an editor: set its provider to OpenAI Compatible in its settings.',
};

/** The advice for tools that are not among `tools`. */
export function adviceFor(name: string): string {
  return (
    unsupported[name] ??
    `The tools are: ${tools.map(({ command }) => command).join(', ')}. For others, see docs/clients.md.`
  );
}
