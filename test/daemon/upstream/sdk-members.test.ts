import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { enforceKeyPolicy } from '../../../src/daemon/features/calls/key-policy.ts';
import { parseChat } from '../../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessagesCall } from '../../../src/daemon/features/inference/formats/messages/parse.ts';
import { parseResponses } from '../../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../../src/daemon/features/inference/formats/responses/parse-input.ts';
import type { Inference, Wire } from '../../../src/daemon/features/upstreams/neutral.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { providerMembers } from '../../../src/shared/formats/response-members.ts';
import { user } from '../../support/inference.ts';
import { callOf } from './upstream-fixture.ts';

type Json = Record<string, unknown>;

/** What becomes of a member of a request to a provider with the same format. */
interface Fate {
  /** The gateway acts on it; otherwise the provider gets it. */
  isKept?: true;
  /** It costs more than is counted, or selects another model: it is refused where spending is limited. */
  isRefused?: true;
  sample: unknown;
}

const relayed = (sample: unknown = 'x'): Fate => ({ sample });
const kept = (sample: unknown): Fate => ({ sample, isKept: true });
const refused = (sample: unknown): Fate => ({ sample, isRefused: true });

const messages = [{ role: 'user', content: 'Hi' }];

// A member that a new version of an SDK adds is missing here, and the type checker says so: decide what becomes of it.
const responses = {
  access_programs: relayed({}),
  background: kept(true),
  background_options: kept({ completion_window: 'soonest' }),
  context_management: kept([]),
  conversation: kept('thread_1'),
  image: relayed({}),
  include: relayed(['reasoning.encrypted_content']),
  input: relayed('Hi'),
  instructions: relayed(),
  max_output_tokens: relayed(64),
  max_tool_calls: relayed(1),
  metadata: relayed({}),
  model: relayed('gpt-fake'),
  moderation: relayed({}),
  parallel_tool_calls: relayed(true),
  previous_response_id: kept('resp_1'),
  prompt: relayed({ id: 'pmpt_1' }),
  prompt_cache_key: relayed(),
  prompt_cache_options: relayed({}),
  prompt_cache_retention: relayed('24h'),
  reasoning: relayed({ effort: 'low' }),
  safety_identifier: relayed(),
  service_tier: refused('priority'),
  // Always false: the gateway stores responses.
  store: relayed(true),
  stream: relayed(true),
  stream_options: relayed({ include_obfuscation: false }),
  temperature: relayed(1),
  text: relayed({}),
  tool_choice: relayed('auto'),
  tools: refused([{ type: 'image_generation' }]),
  top_logprobs: relayed(1),
  top_p: relayed(1),
  truncation: relayed('disabled'),
  user: relayed(),
} satisfies Record<keyof OpenAI.Responses.ResponseCreateParams, Fate>;

const chat = {
  audio: relayed({}),
  frequency_penalty: relayed(0),
  function_call: relayed('auto'),
  functions: relayed([{ name: 'f' }]),
  logit_bias: relayed({}),
  logprobs: relayed(true),
  max_completion_tokens: relayed(64),
  max_tokens: relayed(64),
  messages: relayed(messages),
  // Providers accept it only for answers that they store.
  metadata: kept({}),
  modalities: relayed(['text']),
  model: relayed('gpt-fake'),
  moderation: relayed({}),
  n: relayed(1),
  parallel_tool_calls: relayed(true),
  prediction: relayed({ type: 'content', content: 'x' }),
  presence_penalty: relayed(0),
  prompt_cache_key: relayed(),
  prompt_cache_options: relayed({}),
  prompt_cache_retention: relayed('24h'),
  reasoning_effort: relayed('low'),
  response_format: relayed({ type: 'text' }),
  safety_identifier: relayed(),
  seed: relayed(1),
  service_tier: refused('priority'),
  stop: relayed(),
  store: kept(true),
  stream: relayed(true),
  stream_options: relayed({ include_usage: true }),
  temperature: relayed(1),
  tool_choice: relayed('auto'),
  tools: relayed([{ type: 'function', function: { name: 'f' } }]),
  top_logprobs: relayed(1),
  top_p: relayed(1),
  user: relayed(),
  verbosity: relayed('low'),
  web_search_options: refused({}),
} satisfies Record<keyof OpenAI.Chat.ChatCompletionCreateParams, Fate>;

const anthropic = {
  billing_policy: relayed({}),
  cache_control: relayed({ type: 'ephemeral' }),
  compaction: relayed({}),
  container: relayed(),
  context_management: relayed({}),
  diagnostics: relayed({}),
  fallback_credit_token: relayed(),
  fallbacks: refused([{ model: 'claude-dear' }]),
  inference_geo: refused('us'),
  max_tokens: relayed(64),
  mcp_servers: relayed([]),
  messages: relayed(messages),
  metadata: relayed({}),
  model: relayed('claude-fake'),
  output_config: relayed({}),
  output_format: relayed(null),
  service_tier: relayed('standard_only'),
  speed: refused('fast'),
  stop_sequences: relayed(['x']),
  stream: relayed(true),
  system: relayed(),
  thinking: relayed({ type: 'disabled' }),
  thread: kept({ type: 'create' }),
  tool_choice: relayed({ type: 'none' }),
  tools: refused([{ type: 'advisor_20260301', name: 'advisor', model: 'claude-dear' }]),
  user_profile_id: relayed(),
  workspace_id: relayed(),
} satisfies Record<
  Exclude<
    keyof Anthropic.MessageCreateParams | keyof Anthropic.Beta.Messages.MessageCreateParams,
    // The SDK sends these as headers.
    'betas'
  >,
  Fate
>;

const picture = { type: 'image_generation', model: 'gpt-image-dear' };
const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-dear' };

/** Parts of a conversation that can add tools have one that is refused like those in `tools`. */
const items = {
  additional_tools: { role: 'developer', tools: [picture] },
  apply_patch_call: false,
  apply_patch_call_output: false,
  code_interpreter_call: false,
  compaction: false,
  compaction_trigger: false,
  computer_call: false,
  computer_call_output: false,
  configuration_update: false,
  custom_tool_call: false,
  custom_tool_call_output: false,
  file_search_call: false,
  function_call: false,
  function_call_output: false,
  image_generation_call: false,
  item_reference: false,
  local_shell_call: false,
  local_shell_call_output: false,
  mcp_approval_request: false,
  mcp_approval_response: false,
  mcp_call: false,
  mcp_list_tools: false,
  message: false,
  program: false,
  program_output: false,
  reasoning: false,
  shell_call: false,
  shell_call_output: false,
  tool_search_call: false,
  tool_search_output: { tools: [picture] },
  web_search_call: false,
} satisfies Record<NonNullable<OpenAI.Responses.ResponseInputItem['type']>, object | false>;

const tool = { type: 'tool_definition', definition: advisor };
const blocks = {
  advisor_tool_result: false,
  bash_code_execution_tool_result: false,
  code_execution_tool_result: false,
  compaction: { content: 'Hi', tool_changes: [{ type: 'tool_addition', tool }] },
  container_upload: false,
  document: false,
  fallback: false,
  image: false,
  mcp_tool_listing: false,
  mcp_tool_result: false,
  mcp_tool_use: false,
  redacted_thinking: false,
  search_result: false,
  server_tool_use: false,
  text: false,
  text_editor_code_execution_tool_result: false,
  thinking: false,
  tool_addition: { tool },
  tool_removal: false,
  tool_result: false,
  tool_search_tool_result: false,
  tool_use: false,
  web_fetch_tool_result: false,
  web_search_tool_result: false,
} satisfies Record<Anthropic.Beta.Messages.BetaContentBlockParam['type'], object | false>;

/** Members of a response that the gateway says itself; callers of the format get the others from the provider. */
const said = {
  id: true,
  access_programs: false,
  output_text: true,
  created_at: true,
  error: true,
  incomplete_details: true,
  instructions: true,
  metadata: true,
  model: true,
  object: true,
  output: true,
  parallel_tool_calls: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_p: true,
  background: true,
  completed_at: true,
  conversation: true,
  image: false,
  input_transformations: false,
  max_output_tokens: true,
  max_tool_calls: true,
  moderation: false,
  previous_response_id: true,
  prompt: false,
  prompt_cache_diagnostics: false,
  prompt_cache_key: true,
  prompt_cache_options: false,
  prompt_cache_retention: false,
  reasoning: true,
  safety_identifier: true,
  service_tier: false,
  status: true,
  store: true,
  text: true,
  tool_usage: false,
  top_logprobs: true,
  truncation: true,
  usage: true,
  user: false,
} satisfies Record<keyof OpenAI.Responses.Response | 'store', boolean>;

test.each(Object.entries(said))('%s of a response is said by the gateway: %s', (name, isOurs) => {
  expect(providerMembers({ [name]: 'x' })).toEqual(isOurs ? undefined : { [name]: 'x' });
});

const settings = { name: 'fake', baseUrl: 'http://127.0.0.1:1' };
const nothingSealed = () => undefined;
const formats: Record<
  Wire,
  { members: Record<string, Fate>; parse: (body: never) => Inference; send: (inference: Inference) => Json }
> = {
  responses: {
    members: responses,
    parse: (body) => parseResponses(body, [user('Hi')]),
    send: sendTo(responsesAdapter(settings)),
  },
  chat: {
    members: chat,
    parse: (body) => parseChat(body, nothingSealed),
    send: sendTo(chatAdapter(settings)),
  },
  messages: {
    members: anthropic,
    parse: (body) => parseMessagesCall(body, { 'anthropic-beta': 'any' }, nothingSealed),
    send: sendTo(anthropicAdapter(settings)),
  },
};

function sendTo(adapter: { request(call: ReturnType<typeof callOf>): { body: string } }) {
  return (inference: Inference): Json => JSON.parse(adapter.request(callOf(inference)).body);
}

describe.each(Object.entries(formats))('%s', (_wire, { members, parse, send }) => {
  const required = Object.fromEntries(
    ['model', 'messages', 'input', 'max_tokens'].flatMap((name) =>
      members[name] === undefined ? [] : [[name, members[name].sample]],
    ),
  );
  // What chooses among tools is left out without any.
  const tools = [{ type: 'function', function: { name: 'f' }, name: 'f', input_schema: {} }];
  const callWith = (name: string) => {
    const beside = name === 'tool_choice' || name === 'parallel_tool_calls' ? { tools } : {};
    return parse({ ...required, ...beside, [name]: members[name]?.sample } as never);
  };

  test.each(Object.entries(members))('%s goes where it belongs', (name, { isKept = false }) => {
    expect(name in send(callWith(name))).toBe(!isKept);
  });

  test.each(Object.entries(members))('%s bypasses no limit', (name, { isRefused = false }) => {
    const enforce = () => enforcePrepaid(callWith(name));
    if (isRefused) expect(enforce).toThrow(/not allowed|Only standard/);
    else expect(enforce).not.toThrow();
  });
});

function enforcePrepaid(inference: Inference): void {
  enforceKeyPolicy(
    { isPrepaid: () => true },
    { caller: { workspaceId: 'ws' } as never, inference, options: {} as never },
  );
}

const withItem = (item: object) => parseResponses({ model: 'gpt-fake' }, parseInput([item], nothingSealed));
const withBlock = (block: { type: string }) => {
  const messages = [{ role: 'user', content: [block] }];
  return parseMessagesCall({ model: 'claude-fake', max_tokens: 64, messages }, {}, nothingSealed);
};
const adding = [
  ...Object.entries(items).map(([type, item]) => ({ type, item, parse: withItem })),
  ...Object.entries(blocks).map(([type, item]) => ({ type, item, parse: withBlock })),
].filter(({ item }) => item !== false);

test.each(adding)('tools that $type adds bypass no limit', ({ type, item, parse }) => {
  expect(() => enforcePrepaid(parse({ type, ...item }))).toThrow(/model` is not allowed/);
});
