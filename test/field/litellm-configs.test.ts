import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkConfigText } from '../../src/daemon/config/check-config-text.ts';
import { importLiteLlm } from '../../src/daemon/config/import-litellm.ts';

/** Configurations of LiteLLM proxies as people write them, each from a public report. The values are ours. */

function imported(text: string, env: Record<string, string> = {}) {
  const result = importLiteLlm(text, 'litellm.yaml', env);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  expect(checkConfigText(result.text, 'config.yaml').faults).toEqual([]);
  return { ...result, config: parse(result.text) };
}

const model = (name: string, params: string) =>
  `  - { model_name: "${name}", litellm_params: { ${params} } }\n`;

test('open-webui/open-webui#562: the address of a built-in provider is no upstream', () => {
  const { config, variables } = imported(`model_list:
${model('fast', 'model: openai/gpt-5-mini, api_base: "https://api.openai.com/v1", api_key: os.environ/OPENAI_API_KEY')}
${model('claude', 'model: anthropic/claude-sonnet-4-5, api_base: "https://api.anthropic.com"')}
${model('small', 'model: mistral/mistral-small, api_base: "https://api.mistral.ai/v1"')}`);
  expect(config.aliases).toMatchObject({ fast: 'openai/gpt-5-mini', claude: 'anthropic/claude-sonnet-4-5' });
  expect(config.upstreams).toMatchObject([{ name: 'mistral', base_url: 'https://api.mistral.ai/v1' }]);
  expect(variables).toEqual(['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'MISTRAL_API_KEY']);
});

test('BerriAI/litellm#2233: OpenRouter in OpenAI’s format is OpenRouter', () => {
  const { config } = imported(`model_list:
${model('auto', 'model: openai/openrouter/auto, api_base: "https://openrouter.ai/api/v1/", api_key: os.environ/OPENROUTER_API_KEY')}`);
  expect(config).toEqual({ aliases: { auto: 'openrouter/openrouter/auto' } });
});

test('BerriAI/litellm#9114, BerriAI/litellm#9253: credentials that models share', () => {
  const { config, notes } = imported(`model_list:
${model('main', 'model: azure/gpt-5, litellm_credential_name: az')}
${model('lost', 'model: openai/gpt-5, litellm_credential_name: none')}
credential_list:
  - credential_name: az
    credential_values: { api_base: "https://x.openai.azure.example", api_key: os.environ/AZ_KEY }
`);
  expect(config.upstreams).toEqual([
    {
      name: 'azure',
      base_url: 'https://x.openai.azure.example/openai/v1',
      headers: { 'api-key': { env: 'AZ_KEY' } },
      models: ['gpt-5'],
    },
  ]);
  expect(notes).toEqual(['There is no credential none.']);
});

test('BerriAI/litellm#560: the provider in a parameter of its own, models and addresses in variables', () => {
  const { config } = imported(
    `model_list:
${model('one', 'model: qwen, custom_llm_provider: custom_openai, api_base: os.environ/QWEN_URL')}
${model('two', 'model: os.environ/SECOND')}
${model('three', 'model: hosted_vllm/glm')}`,
    { QWEN_URL: 'http://10.0.0.3/v1', SECOND: 'groq/llama', HOSTED_VLLM_API_BASE: 'http://10.0.0.4/v1' },
  );
  expect(config.aliases).toEqual({ one: '10-0-0-3/qwen', two: 'groq/llama', three: '10-0-0-4/glm' });
});

test('BerriAI/litellm#5970, BerriAI/litellm#2788: names by pattern, and fallbacks of all', () => {
  const { config, notes } = imported(`model_list:
${model('team/*', 'model: "openai/*", api_base: "http://10.0.0.4/v1"')}
${model('*', 'model: "openrouter/*"')}
${model('azure/*', 'model: "azure/*", api_base: "https://x.openai.azure.example"')}
litellm_settings: { fallbacks: [{ "*": [spare] }, { main: [spare] }] }
`);
  expect(config.upstreams).toMatchObject([{ models: ['*'] }, { name: 'azure', models: ['*'] }]);
  expect(config.fallbacks).toEqual({ main: ['spare'] });
  expect(notes).toEqual([
    'The names team/* are not imported: call 10-0-0-4/* instead.',
    'The fallbacks of * are not imported: a model has fallbacks of its own.',
  ]);
});

test('a file that only includes others names them', () => {
  expect(importLiteLlm('include: [models.yaml]', 'litellm.yaml')).toEqual({
    faults: [
      {
        place: 'litellm.yaml',
        message: 'it has no model_list; import the files that it includes: models.yaml',
      },
    ],
  });
});

test.each(['include: [models.yaml]', 'include: models.yaml'])('%s: a file is named also alone', (text) => {
  const { faults } = importLiteLlm(text, 'litellm.yaml') as { faults: { message: string }[] };
  expect(faults[0]?.message).toMatch(/includes: models\.yaml$/);
});

test('what a variable lacks is not made up', () => {
  const { config, notes } = imported(
    `model_list:
${model('one', 'model: openai/gpt-5')}
${model('two', 'model: os.environ/NO_MODEL')}
${model('three', 'model: os.environ/NO_MODEL, custom_llm_provider: openai')}`,
    { OPENAI_API_BASE: '' },
  );
  expect(config.upstreams).toBeUndefined();
  expect(config.aliases).toEqual({ one: 'openai/gpt-5' });
  expect(notes).toEqual(
    ['two', 'three'].map(
      (name) => `The model ${name} is left out: its name is in NO_MODEL, which is not set here.`,
    ),
  );
});
