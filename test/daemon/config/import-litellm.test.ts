import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkConfigText } from '../../../src/daemon/config/check-config-text.ts';
import { importLiteLlm } from '../../../src/daemon/config/import-litellm.ts';

/** The translated settings, which are a valid configuration, and what is reported with them. */
function imported(text: string) {
  const result = importLiteLlm(text, 'litellm.yaml');
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  expect(checkConfigText(result.text, 'config.yaml').faults).toEqual([]);
  return { ...result, config: parse(result.text) };
}

test('models of built-in providers become aliases, without one where the name is the same', () => {
  const { config, variables } = imported(`
model_list:
  - model_name: smart
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: os.environ/ANTHROPIC_API_KEY }
  - model_name: openai/gpt-5
    litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY }
  - model_name: flash
    litellm_params: { model: gemini/gemini-2.5-flash }
`);
  expect(config).toEqual({
    aliases: { smart: 'anthropic/claude-sonnet-4-5', flash: 'google/gemini-2.5-flash' },
  });
  expect(variables).toEqual(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY']);
});

test('several models of one name share its calls by weight, or else by requests per minute', () => {
  const { config } = imported(`
model_list:
  - model_name: gpt
    litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_API_KEY, rpm: 6000 }
  - model_name: gpt
    litellm_params: { model: openai/gpt-5, api_key: os.environ/SECOND_KEY, rpm: 3000 }
  - model_name: gpt
    litellm_params:
      model: azure/gpt5-eu
      api_base: https://acme.openai.azure.example/
      api_key: os.environ/AZURE_EU_KEY
      rpm: 600
  - model_name: llama
    litellm_params: { model: nvidia_nim/llama-3.3-70b-versatile, weight: 2 }
  - model_name: llama
    litellm_params:
      model: hosted_vllm/meta/llama-3.3-70b
      api_base: http://10.0.0.7:8000/v1
      weight: 1
      input_cost_per_token: 0.00000059
      output_cost_per_token: "7.9e-07"
`);
  expect(config).toEqual({
    upstreams: [
      {
        name: 'openai-2',
        base_url: 'https://api.openai.com/v1',
        wire: 'responses',
        key_env: 'SECOND_KEY',
        models: ['gpt-5'],
      },
      {
        name: 'azure',
        base_url: 'https://acme.openai.azure.example/openai/v1',
        headers: { 'api-key': { env: 'AZURE_EU_KEY' } },
        models: ['gpt5-eu'],
      },
      {
        name: 'nvidia-nim',
        base_url: 'https://integrate.api.nvidia.com/v1',
        key_env: 'NVIDIA_NIM_API_KEY',
        models: ['llama-3.3-70b-versatile'],
      },
      {
        name: '10-0-0-7-8000',
        base_url: 'http://10.0.0.7:8000/v1',
        models: ['meta/llama-3.3-70b'],
        prices: { 'meta/llama-3.3-70b': { input: '0.59', output: '0.79' } },
      },
    ],
    aliases: {
      gpt: { 'openai/gpt-5': 1000, 'openai-2/gpt-5': 500, 'azure/gpt5-eu': 100 },
      llama: { 'nvidia-nim/llama-3.3-70b-versatile': 2, '10-0-0-7-8000/meta/llama-3.3-70b': 1 },
    },
  });
});

test('fallbacks and names of groups are kept; keys are not copied, and the rest is reported', () => {
  const { config, text, notes, variables } = imported(`
model_list:
  - model_name: main
    litellm_params: { model: gpt-5, api_key: sk-written-down }
  - model_name: other
    litellm_params: { model: bedrock/anthropic.claude-sonnet-4-5 }
  - model_name: "*"
    litellm_params: { model: "nvidia_nim/*" }
litellm_settings: { fallbacks: [{ main: [spare, more] }], drop_params: true }
router_settings: { model_group_alias: { gpt-4: main }, routing_strategy: simple-shuffle }
general_settings: { master_key: sk-master }
`);
  expect(config).toEqual({
    upstreams: [
      {
        name: 'nvidia-nim',
        base_url: 'https://integrate.api.nvidia.com/v1',
        key_env: 'NVIDIA_NIM_API_KEY',
        models: ['*'],
      },
    ],
    aliases: { main: 'openai/gpt-5', 'gpt-4': 'openai/gpt-5' },
    fallbacks: { main: ['spare', 'more'] },
  });
  expect(variables).toEqual(['OPENAI_API_KEY', 'NVIDIA_NIM_API_KEY']);
  expect(text + notes.join()).not.toContain('sk-');
  expect(notes).toEqual([
    'The key of gpt-5 is in the file and is not copied: set it as OPENAI_API_KEY.',
    'The model other is left out: bedrock/anthropic.claude-sonnet-4-5.',
    'Not imported: litellm_settings.drop_params, router_settings.routing_strategy, general_settings.master_key.',
  ]);
});

test('a model that several names lead to is listed once, and none beside all models of its server', () => {
  const listed = (...models: string[]) => {
    const entries = models.map(
      (model, at) => `{ model_name: m${at}, litellm_params: { model: "groq/${model}" } }`,
    );
    return imported(`model_list: [${entries.join(', ')}]`).config.upstreams[0].models;
  };
  expect(listed('llama', 'qwen', 'llama')).toEqual(['llama', 'qwen']);
  expect(listed('*', 'llama')).toEqual(['*']);
  expect(listed('llama', '*', 'qwen')).toEqual(['*']);
});

test.each([
  ['model_list: [', 'litellm.yaml:1:14'],
  ['listen: { port: 4100 }', 'litellm.yaml'],
  ['- 1', 'litellm.yaml'],
])('%s is not such a configuration', (text, place) => {
  expect(importLiteLlm(text, 'litellm.yaml')).toMatchObject({ faults: [{ place }] });
});

test('a provider whose name is a member of every object is unknown', () => {
  const { config, notes } = imported(`
model_list:
  - model_name: odd
    litellm_params: { model: constructor/x }
`);
  expect(config).toEqual({});
  expect(notes).toEqual(['The model odd is left out: constructor/x.']);
});

// BerriAI/litellm#1874: addresses in variables; its documentation has them in most examples.
test('addresses may be in variables, which are read where the command runs', () => {
  const text = `
model_list:
  - model_name: gpt
    litellm_params: { model: azure/gpt-5, api_base: os.environ/AZURE_API_BASE, api_key: os.environ/AZURE_API_KEY }
  - model_name: llama
    litellm_params: { model: hosted_vllm/llama, api_base: os.environ/VLLM_API_BASE }
`;
  const result = importLiteLlm(text, 'litellm.yaml', { AZURE_API_BASE: '"https://acme.example/openai/"' });
  if ('faults' in result) throw new Error('it has faults');
  expect(parse(result.text).upstreams).toMatchObject([
    { name: 'azure', base_url: 'https://acme.example/openai/v1', models: ['gpt-5'] },
  ]);
  expect(result.notes).toEqual([
    'The model llama is left out: its address is in VLLM_API_BASE, which is not set here.',
  ]);
});

// BerriAI/litellm#8692, BerriAI/litellm#16000: without them, each cached token costs as much as others.
test('prices of cached tokens are kept, and what is not translated is named', () => {
  const { config, notes } = imported(`
model_list:
  - model_name: own
    litellm_params:
      model: openai/own
      api_base: http://[::1]:8000/v1
      input_cost_per_token: 2.5e-06
      output_cost_per_token: 0.00001
      timeout: 30
      extra_headers: { x-team: a }
    model_info: { cache_read_input_token_cost: 2.5e-07, cache_creation_input_token_cost: 3.125e-06 }
  - model_name: listed
    litellm_params: { model: openai/gpt-5, input_cost_per_token: 1e-06, output_cost_per_token: 2e-06 }
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-5, api_base: https://proxy.example/anthropic/ }
`);
  const own = { input: '2.5', output: '10', cached_input: '0.25', cache_write: '3.125' };
  expect(config.upstreams).toEqual([
    { name: '1-8000', base_url: 'http://[::1]:8000/v1', models: ['own'], prices: { own } },
    {
      name: 'proxy-example',
      base_url: 'https://proxy.example/anthropic',
      wire: 'messages',
      key_env: 'ANTHROPIC_API_KEY',
      models: ['claude-sonnet-5'],
    },
  ]);
  expect(notes).toEqual([
    'The prices of openai/gpt-5 are left out: it has list prices.',
    'Not imported: litellm_params.timeout, litellm_params.extra_headers.',
  ]);
});
