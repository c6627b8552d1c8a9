import { stringify } from 'yaml';
import type { ConfigFault, ImportedConfig } from '../../shared/daemon-module.ts';
import { isObject, type JsonObject, listOf, ownValue } from '../../shared/json/json-object.ts';
import { isKnownProvider, type KnownProvider, providerFacts } from '../../shared/known-providers.ts';
import { bareValue } from '../../shared/text/bare-value.ts';
import { trimBoth, trimEnd } from '../../shared/text/trim-text.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import type { ConfigFile } from './settings/table.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Upstream = NonNullable<ConfigFile['upstreams']>[number];

/** Providers with OpenAI's chat format: their address, and the variable that LiteLLM reads for their key. */
const compatible: Readonly<Record<string, { baseUrl: string; keyEnv: string }>> = {
  cerebras: { baseUrl: 'https://api.cerebras.ai/v1', keyEnv: 'CEREBRAS_API_KEY' },
  codestral: { baseUrl: 'https://codestral.mistral.ai/v1', keyEnv: 'CODESTRAL_API_KEY' },
  dashscope: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyEnv: 'DASHSCOPE_API_KEY',
  },
  deepinfra: { baseUrl: 'https://api.deepinfra.com/v1/openai', keyEnv: 'DEEPINFRA_API_KEY' },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', keyEnv: 'DEEPSEEK_API_KEY' },
  fireworks_ai: { baseUrl: 'https://api.fireworks.ai/inference/v1', keyEnv: 'FIREWORKS_AI_API_KEY' },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', keyEnv: 'GROQ_API_KEY' },
  hyperbolic: { baseUrl: 'https://api.hyperbolic.xyz/v1', keyEnv: 'HYPERBOLIC_API_KEY' },
  minimax: { baseUrl: 'https://api.minimax.io/v1', keyEnv: 'MINIMAX_API_KEY' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', keyEnv: 'MISTRAL_API_KEY' },
  moonshot: { baseUrl: 'https://api.moonshot.ai/v1', keyEnv: 'MOONSHOT_API_KEY' },
  nvidia_nim: { baseUrl: 'https://integrate.api.nvidia.com/v1', keyEnv: 'NVIDIA_NIM_API_KEY' },
  perplexity: { baseUrl: 'https://api.perplexity.ai', keyEnv: 'PERPLEXITYAI_API_KEY' },
  sambanova: { baseUrl: 'https://api.sambanova.ai/v1', keyEnv: 'SAMBANOVA_API_KEY' },
  together_ai: { baseUrl: 'https://api.together.xyz/v1', keyEnv: 'TOGETHERAI_API_KEY' },
  volcengine: { baseUrl: 'https://ark.cn-beijing.volces.com/api/v3', keyEnv: 'VOLCENGINE_API_KEY' },
  xai: { baseUrl: 'https://api.x.ai/v1', keyEnv: 'XAI_API_KEY' },
  zai: { baseUrl: 'https://api.z.ai/api/paas/v4', keyEnv: 'ZAI_API_KEY' },
};

/** The hosts of built-in providers, whose addresses need not be written. */
const ownHosts: Readonly<Record<string, KnownProvider>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'openrouter.ai': 'openrouter',
  'ai-gateway.vercel.sh': 'vercel',
};

/** LiteLLM's names of servers that are only known by their address. */
const byAddress = new Set([
  'hosted_vllm',
  'vllm',
  'lm_studio',
  'openai_like',
  'custom_openai',
  'litellm_proxy',
]);

/** LiteLLM's other names of the providers that are known here. */
const otherNames: Readonly<Record<string, KnownProvider>> = {
  gemini: 'google',
  vercel_ai_gateway: 'vercel',
};

/** The addresses of a second account at a built-in provider. */
const accounts: Partial<Record<KnownProvider, Pick<Upstream, 'base_url' | 'wire'>>> = {
  openai: { base_url: 'https://api.openai.com/v1', wire: 'responses' },
  anthropic: { base_url: 'https://api.anthropic.com/v1', wire: 'messages' },
};

/** What is translated of a model's parameters. */
const readParameters = new Set([
  ...['model', 'api_base', 'base_url', 'api_key', 'api_version', 'weight', 'rpm'],
  ...['custom_llm_provider', 'litellm_credential_name'],
  ...['input_cost_per_token', 'output_cost_per_token'],
  ...['cache_read_input_token_cost', 'cache_creation_input_token_cost'],
]);

/**
 * Translates the configuration of a LiteLLM proxy: its models become upstreams and aliases, with weights where several share
 * a name, and its fallbacks stay fallbacks. Keys are never copied. Notes say what has to be done by hand.
 */
export function importLiteLlm(
  text: string,
  path: string,
  env: Environment = {},
): ImportedConfig | { faults: ConfigFault[] } {
  const read = readYaml(text, path);
  if ('faults' in read) {
    const faults = read.faults.map(({ file, line, column, message }) => ({
      place: `${file}:${line}:${column}`,
      message,
    }));
    return { faults };
  }
  const file = mapOf(read.value);
  const entries = listOf(file.model_list).map(mapOf);
  if (entries.length === 0) {
    const message =
      file.include === undefined
        ? 'it has no model_list: is it the configuration of a LiteLLM proxy?'
        : `it has no model_list; import the files that it includes: ${[file.include].flat().join(', ')}`;
    return { faults: [{ place: path, message }] };
  }
  return new Import(file, entries, env).result();
}

function missingModel(written: string | undefined): string {
  const variable = variableIn(written);
  return variable === undefined
    ? 'it has no litellm_params.model'
    : `its name is in ${variable}, which is not set here`;
}

class Import {
  readonly #file: JsonObject;
  readonly #entries: readonly JsonObject[];
  readonly #upstreams = new Map<string, Upstream>();
  readonly #groups = new Map<string, { model: string; weight: number | undefined }[]>();
  readonly #notes: string[] = [];
  readonly #variables = new Set<string>();
  readonly #env: Environment;
  readonly #leftOut = new Set<string>();

  constructor(file: JsonObject, entries: readonly JsonObject[], env: Environment) {
    this.#file = file;
    this.#entries = entries;
    this.#env = env;
  }

  result(): ImportedConfig {
    for (const entry of this.#entries) this.#addModel(entry);
    const aliases = this.#aliases();
    const fallbacks = this.#fallbacks();
    this.#noteOthers();
    const upstreams = [...this.#upstreams.values()];
    const config: ConfigFile = {
      ...(upstreams.length > 0 && { upstreams }),
      ...(Object.keys(aliases).length > 0 && { aliases }),
      ...(Object.keys(fallbacks).length > 0 && { fallbacks }),
    };
    return { text: stringify(config, { lineWidth: 0 }), notes: this.#notes, variables: [...this.#variables] };
  }

  #addModel(entry: JsonObject): void {
    const name = textOf(entry.model_name) ?? '';
    const params = this.#withCredential(mapOf(entry.litellm_params));
    const model = this.#modelIn(params);
    if (this.#addressOf(params) === '') {
      const unset = variableIn(textOf(params.api_base) ?? textOf(params.base_url));
      this.#notes.push(`The model ${name} is left out: its address is in ${unset}, which is not set here.`);
      return;
    }
    for (const one of Object.keys(params))
      if (!readParameters.has(one)) this.#leftOut.add(`litellm_params.${one}`);
    const target = name === '' || model === '' ? undefined : this.#targetOf(model, { ...entry, ...params });
    if (target === undefined) {
      this.#notes.push(
        `The model ${name || '(without a name)'} is left out: ${model || missingModel(textOf(params.model))}.`,
      );
      return;
    }
    if (name.includes('*')) {
      // A wildcard that forwards names as they are needs no alias.
      if (name !== '*' && name !== model && name !== target)
        this.#notes.push(`The names ${name} are not imported: call ${target} instead.`);
      return;
    }
    const weight = numberOf(params.weight) ?? numberOf(params.rpm ?? entry.rpm);
    this.#groups.set(name, [...(this.#groups.get(name) ?? []), { model: target, weight }]);
  }

  /** With what `credential_list` has by its name. */
  #withCredential(params: JsonObject): JsonObject {
    const name = textOf(params.litellm_credential_name);
    if (name === undefined) return params;
    const all = listOf(this.#file.credential_list).map(mapOf);
    const found = all.find(({ credential_name }) => credential_name === name);
    if (found === undefined) this.#notes.push(`There is no credential ${name}.`);
    return { ...mapOf(found?.credential_values), ...params };
  }

  /** The provider and the model, of which each may be written elsewhere. */
  #modelIn(params: JsonObject): string {
    const written = textOf(params.model) ?? '';
    const variable = variableIn(written);
    const model = variable === undefined ? written : (this.#env[variable] ?? '');
    const provider = textOf(params.custom_llm_provider);
    return provider === undefined || model === '' || model.startsWith(`${provider}/`)
      ? model
      : `${provider}/${model}`;
  }

  /** The model's name here; undefined for a provider that cannot be called. */
  #targetOf(model: string, params: JsonObject): string | undefined {
    const [provider, name] = splitModel(model);
    const named = ownValue(otherNames, provider) ?? (isKnownProvider(provider) ? provider : undefined);
    const usualBase = bareValue(this.#env[`${provider.toUpperCase()}_API_BASE`] ?? '');
    const written = this.#addressOf(params) ?? (URL.canParse(usualBase) ? usualBase : undefined);
    const host = ownValue(ownHosts, URL.canParse(written ?? '') ? new URL(written ?? '').host : '');
    // OpenAI's format at the address of another one.
    const known = named === 'openai' ? (host ?? named) : named;
    const baseUrl = host !== undefined && host === known ? undefined : written;
    if (known !== undefined && baseUrl === undefined) {
      if (pricesIn(params)) this.#notes.push(`The prices of ${model} are left out: it has list prices.`);
      const [usual] = providerFacts[known].keyVariables;
      const variable = this.#variableOf(params, usual);
      if ((providerFacts[known].keyVariables as readonly string[]).includes(variable))
        return `${known}/${name}`;
      const account = accounts[known];
      if (account === undefined) {
        this.#notes.push(`${model}: add ${variable} to the list providers.${known}.key_env.`);
        return `${known}/${name}`;
      }
      return this.#onUpstream(known, { ...account, key_env: variable }, name, params);
    }
    if (provider === 'azure' && baseUrl !== undefined) {
      const variable = this.#variableOf(params, 'AZURE_API_KEY');
      const address = {
        base_url: `${trimmed(baseUrl.replace(/\/openai(\/.*)?$/s, ''))}/openai/v1`,
        headers: { 'api-key': { env: variable } },
      };
      return this.#onUpstream('azure', address, name, params);
    }
    if (known === 'anthropic' && baseUrl !== undefined) {
      const key_env = this.#variableOf(params, 'ANTHROPIC_API_KEY');
      const address = { base_url: trimmed(baseUrl), wire: 'messages', key_env } as const;
      return this.#onUpstream(hostName(baseUrl), address, name, params);
    }
    const usual = ownValue(compatible, provider);
    if (usual !== undefined) {
      const key_env = this.#variableOf(params, usual.keyEnv);
      return this.#onUpstream(
        provider.replace(/_ai$/, ''),
        { base_url: baseUrl ?? usual.baseUrl, key_env },
        name,
        params,
      );
    }
    if (provider === 'ollama' || provider === 'ollama_chat') {
      if (baseUrl === undefined || /^http:\/\/(localhost|127\.0\.0\.1):11434\/?$/.test(baseUrl))
        return `ollama/${name}`;
      return this.#onUpstream('ollama', { base_url: `${trimmed(baseUrl)}/v1` }, name, params);
    }
    if (baseUrl === undefined || !(known === 'openai' || byAddress.has(provider))) return undefined;
    const hasKey = params.api_key !== undefined;
    const address = {
      base_url: trimmed(baseUrl),
      ...(hasKey && { key_env: this.#variableOf(params, 'UPSTREAM_API_KEY') }),
    };
    return this.#onUpstream(hostName(baseUrl), address, name, params);
  }

  #onUpstream(
    name: string,
    address: Omit<Upstream, 'name' | 'models'>,
    model: string,
    params: JsonObject,
  ): string {
    const upstream = this.#upstreamAt(name.replaceAll('_', '-'), address);
    if (model === '*') upstream.models = ['*'];
    else if (upstream.models[0] !== '*' && !upstream.models.includes(model)) upstream.models.push(model);
    const prices = pricesIn(params);
    if (prices) upstream.prices = { ...(upstream.prices as Record<string, never>), [model]: prices };
    return `${upstream.name}/${model}`;
  }

  /** The address of a model, which may be in a variable; empty if that is not set. */
  #addressOf(params: JsonObject): string | undefined {
    const written = textOf(params.api_base) ?? textOf(params.base_url);
    const variable = variableIn(written);
    return variable === undefined ? written : bareValue(this.#env[variable] ?? '');
  }

  /** The upstream with this address and key. Its name gets a number if another one has it. */
  #upstreamAt(name: string, address: Omit<Upstream, 'name' | 'models'>): Upstream {
    for (let count = 1; ; count += 1) {
      const own = count === 1 ? name : `${name}-${count}`;
      if (isKnownProvider(own)) continue;
      const same = this.#upstreams.get(own);
      if (same !== undefined) {
        if (sameAddress(same, address)) return same;
        continue;
      }
      const added: Upstream = { name: own, ...address, models: [] };
      this.#upstreams.set(own, added);
      return added;
    }
  }

  /** The variable that holds the key: a key in the file is not copied. */
  #variableOf(params: JsonObject, usual: string): string {
    const written = textOf(params.api_key);
    const named = variableIn(written);
    if (written !== undefined && named === undefined) {
      this.#notes.push(
        `The key of ${textOf(params.model)} is in the file and is not copied: set it as ${usual}.`,
      );
    }
    this.#variables.add(named ?? usual);
    return named ?? usual;
  }

  #aliases(): NonNullable<ConfigFile['aliases']> {
    const aliases: NonNullable<ConfigFile['aliases']> = {};
    for (const [name, models] of this.#groups) {
      const [first] = models;
      if (first === undefined || (models.length === 1 && first.model === name)) continue;
      aliases[name] = models.length === 1 ? first.model : weightsOf(models);
    }
    for (const [alias, group] of Object.entries(mapOf(mapOf(this.#file.router_settings).model_group_alias))) {
      const target = textOf(group) ?? textOf(mapOf(group).model);
      if (target !== undefined) aliases[alias] = aliases[target] ?? target;
    }
    return aliases;
  }

  #fallbacks(): Record<string, string[]> {
    const { litellm_settings: library, router_settings: router } = this.#file;
    const rules = [...listOf(mapOf(library).fallbacks), ...listOf(mapOf(router).fallbacks)].map(mapOf);
    const all = rules.flatMap((rule) => Object.entries(rule));
    const named = all.map(
      ([model, others]) => [model, listOf(others).flatMap((one) => textOf(one) ?? [])] as const,
    );
    if (named.some(([model]) => model === '*'))
      this.#notes.push('The fallbacks of * are not imported: a model has fallbacks of its own.');
    const kept = named.filter(([model, others]) => model !== '*' && others.length > 0);
    return Object.fromEntries(kept.map(([model, others]) => [model, [...others]]));
  }

  #noteOthers(): void {
    const read = new Set([
      'litellm_settings.fallbacks',
      'router_settings.fallbacks',
      'router_settings.model_group_alias',
    ]);
    const left = Object.entries(this.#file)
      .filter(([section]) => section !== 'model_list' && section !== 'credential_list')
      .flatMap(([section, settings]) => {
        const names = Object.keys(mapOf(settings)).map((name) => `${section}.${name}`);
        return names.length > 0 ? names : [section];
      })
      .filter((name) => !read.has(name))
      .concat(...this.#leftOut);
    if (left.length > 0) this.#notes.push(`Not imported: ${left.join(', ')}.`);
  }
}

/** `os.environ/NAME` → `NAME`. */
function variableIn(text: string | undefined): string | undefined {
  return /^os\.environ\/(\w+)$/.exec(text ?? '')?.[1];
}

/** The prices of a model, if it has its own. */
function pricesIn(params: JsonObject) {
  const costs = { ...mapOf(params.model_info), ...params };
  const [input, output] = [perMillion(costs.input_cost_per_token), perMillion(costs.output_cost_per_token)];
  if (input === undefined || output === undefined) return undefined;
  const cached_input = perMillion(costs.cache_read_input_token_cost);
  const cache_write = perMillion(costs.cache_creation_input_token_cost);
  return {
    input,
    output,
    ...(cached_input !== undefined && { cached_input }),
    ...(cache_write !== undefined && { cache_write }),
  };
}

/** `groq/llama-3` → `groq`, `llama-3`. LiteLLM knows the providers of some names without one. */
function splitModel(model: string): [provider: string, name: string] {
  const slash = model.indexOf('/');
  if (slash > 0) return [model.slice(0, slash), model.slice(slash + 1)];
  if (model.startsWith('claude')) return ['anthropic', model];
  if (model.startsWith('gemini')) return ['gemini', model];
  return [/^(gpt|o\d|chatgpt|text-embedding)/.test(model) ? 'openai' : '', model];
}

/** Equal weights where LiteLLM has no number; scaled to at most 1000. */
function weightsOf(models: readonly { model: string; weight: number | undefined }[]): Record<string, number> {
  const isWeighted = models.every(({ weight }) => weight !== undefined && weight > 0);
  const most = Math.max(...models.map(({ weight = 1 }) => weight));
  const scale = isWeighted && most > 1000 ? 1000 / most : 1;
  const weights: Record<string, number> = {};
  for (const { model, weight = 1 } of models) {
    const added = isWeighted ? Math.max(0.001, Number((weight * scale).toPrecision(4))) : 1;
    weights[model] = Math.min(1000, (weights[model] ?? 0) + added);
  }
  return weights;
}

/** Dollars per million tokens, as text. */
function perMillion(perToken: unknown): string | undefined {
  const dollars = numberOf(perToken);
  if (dollars === undefined || dollars < 0) return undefined;
  return String(Number((dollars * 1e6).toFixed(9)));
}

function sameAddress(
  one: Omit<Upstream, 'name' | 'models'>,
  other: Omit<Upstream, 'name' | 'models'>,
): boolean {
  const partsOf = ({ base_url, key_env, headers }: typeof one) =>
    JSON.stringify([base_url, key_env, headers]);
  return partsOf(one) === partsOf(other);
}

/** `https://llm.acme.example/v1` → `llm-acme-example`. */
function hostName(url: string): string {
  const host = /^https?:\/\/([^/]+)/.exec(url)?.[1] ?? 'upstream';
  const name = host.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return trimBoth(name, '-').slice(0, 36);
}

const trimmed = (url: string) => trimEnd(url, '/');

function mapOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
