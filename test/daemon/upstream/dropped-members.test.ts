import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { untranslatable } from '../../../src/daemon/features/calls/capable-routes.ts';
import { parseChat } from '../../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessagesCall } from '../../../src/daemon/features/inference/formats/messages/parse.ts';
import { parseResponses } from '../../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../../src/daemon/features/inference/formats/responses/parse-input.ts';
import {
  withoutForeignItems,
  withPlainTools,
} from '../../../src/daemon/features/inference/translation/plain-tools.ts';
import { stoppedAnswer } from '../../../src/daemon/features/inference/translation/stop-sequences.ts';
import type { Inference, Wire } from '../../../src/daemon/features/upstreams/neutral.ts';
import type { Adapter } from '../../../src/daemon/upstream/adapter.ts';
import { droppedMembers, members } from '../../../src/daemon/upstream/dropped-members.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { ApiError } from '../../../src/shared/errors.ts';

type Json = Record<string, unknown>;

const settings = { name: 'fake', baseUrl: 'http://127.0.0.1:1' };
const targets: Record<Wire, Record<string, { adapter: Adapter; model: string }>> = {
  responses: {
    'chat upstreams': { adapter: chatAdapter(settings), model: 'fake' },
    Anthropic: { adapter: anthropicAdapter(settings), model: 'claude-sonnet-4-5' },
    Google: { adapter: googleAdapter(settings), model: 'gemini-3.5-flash' },
  },
  chat: {
    'Responses upstreams': { adapter: responsesAdapter(settings), model: 'fake' },
    Anthropic: { adapter: anthropicAdapter(settings), model: 'claude-sonnet-4-5' },
    Google: { adapter: googleAdapter(settings), model: 'gemini-3.5-flash' },
  },
  messages: {
    'chat upstreams': { adapter: chatAdapter(settings), model: 'fake' },
    'Responses upstreams': { adapter: responsesAdapter(settings), model: 'fake' },
    Google: { adapter: googleAdapter(settings), model: 'gemini-3.5-flash' },
  },
};

const text = { role: 'user', content: 'Hi.' };
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } };
const input = (...items: Json[]) => ({ input: [{ type: 'message', ...text }, ...items] });
const file = (part: Json) => ({ input: [{ role: 'user', content: [part] }] });

/** A body for each row of the tables in the guide. */
const samples: Record<Wire, Record<string, Json>> = {
  responses: {
    instructions: { instructions: 'Be kind.' },
    'input: messages, calls, outputs': input(
      { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'rain' },
    ),
    'input: custom tool calls, calls with a namespace': input(
      { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'done' },
      { type: 'function_call', call_id: 'd', name: 'look', namespace: 'mcp', arguments: '{}' },
    ),
    'input: calls of MCP servers by a provider (`mcp_call`)': input({
      type: 'mcp_call',
      id: 'mcp_1',
      server_label: 'wiki',
      name: 'ask',
      arguments: '{}',
      output: 'Yes.',
    }),
    'input: `additional_tools`, `tool_search_call`, `tool_search_output`': input(
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', ...weather }] },
      { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'w' } },
      { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [] },
    ),
    'input: `agent_message`': input({
      type: 'agent_message',
      author: '/root',
      recipient: '/root/a',
      content: [{ type: 'encrypted_content', encrypted_content: 'Go on.' }],
    }),
    'input: `shell_call`, `local_shell_call`, `apply_patch_call`, and their outputs': input(
      { type: 'shell_call', call_id: 'h', action: { commands: ['ls'] } },
      { type: 'shell_call_output', call_id: 'h', output: [] },
      { type: 'local_shell_call', call_id: 'l', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', call_id: 'l', output: 'a.txt' },
      { type: 'apply_patch_call', call_id: 'p', operation: { type: 'delete_file', path: 'a.txt' } },
      { type: 'apply_patch_call_output', call_id: 'p', status: 'completed' },
    ),
    'input: outputs with a `call_id` of null': input({
      type: 'function_call_output',
      call_id: null,
      name: 'notify',
      output: 'Rain.',
    }),
    'input: calls of provider tools (`web_search_call`, …)': input({ type: 'web_search_call', id: 'ws_1' }),
    "input: reasoning and agents' messages encrypted by a provider": input({
      type: 'reasoning',
      summary: [],
      encrypted_content: 'gAAAA',
    }),
    'input: other items, roles and parts': input({ type: 'computer_call', call_id: 'c' }),
    'input: `file_id`': file({ type: 'input_file', file_id: 'file-1' }),
    'tools: functions': { tools: [{ type: 'function', ...weather }] },
    'tools: `namespace`, `custom`, `tool_search` with `execution: client`': {
      tools: [
        { type: 'namespace', name: 'mcp', tools: [{ type: 'function', ...weather }] },
        { type: 'custom', name: 'patch' },
        { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      ],
    },
    'tools: `shell` of the caller, `local_shell`, `apply_patch`': {
      tools: [
        { type: 'shell', environment: { type: 'local' } },
        { type: 'local_shell' },
        { type: 'apply_patch' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] },
    },
    'tools: `computer`, `computer_use_preview`': { tools: [{ type: 'computer' }] },
    'tools: others (`web_search`, …)': { tools: [{ type: 'web_search' }] },
    'tool_choice: modes, functions, custom tools': {
      tools: [{ type: 'custom', name: 'patch' }],
      tool_choice: { type: 'custom', name: 'patch' },
    },
    'tool_choice: others': {
      tools: [{ type: 'web_search' }],
      tool_choice: { type: 'web_search' },
    },
    parallel_tool_calls: { tools: [{ type: 'function', ...weather }], parallel_tool_calls: false },
    max_output_tokens: { max_output_tokens: 99 },
    max_tool_calls: { max_tool_calls: 3 },
    'text.format': { text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' } } } },
    'text.format: other types': { text: { format: { type: 'grammar' } } },
    'text.verbosity': { text: { verbosity: 'low' } },
    temperature: { temperature: 0.5 },
    top_p: { top_p: 0.5 },
    presence_penalty: { presence_penalty: 0.5 },
    frequency_penalty: { frequency_penalty: 0.5 },
    'top_logprobs, include: `message.output_text.logprobs`': {
      top_logprobs: 2,
      include: ['message.output_text.logprobs'],
    },
    'include: `reasoning.encrypted_content`': { include: ['reasoning.encrypted_content'] },
    'include: others': { include: ['web_search_call.action.sources'] },
    'reasoning.effort': { reasoning: { effort: 'high' } },
    'reasoning.summary': { reasoning: { summary: 'auto' } },
    prompt: { prompt: { id: 'pmpt_1' } },
    service_tier: { service_tier: 'priority' },
    'safety_identifier, user': { safety_identifier: 'u', user: 'u' },
    'prompt_cache_key, prompt_cache_retention, prompt_cache_options': {
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit' },
    },
    client_metadata: { client_metadata: { a: 'b' } },
    'metadata, store, stream, stream_options, background, …': {
      metadata: { a: 'b' },
      store: false,
      stream: true,
      stream_options: { include_obfuscation: false },
      context_management: [{ type: 'compaction', compact_threshold: 9 }],
    },
    'any other member': { moderation: { model: 'x' } },
  },
  chat: {
    'messages: text, images, calls, outputs': {
      messages: [
        text,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'rain' },
      ],
    },
    'messages: custom tool calls': {
      messages: [
        text,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'patch', input: 'x' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
      ],
    },
    'messages: `name` of a participant': { messages: [{ ...text, name: 'ada' }] },
    'messages: `file_id`': {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
    },
    'messages: other roles and parts': { messages: [text, { role: 'critic', content: 'No.' }] },
    'tools: functions, `functions`': {
      tools: [{ type: 'function', function: weather }],
      functions: [{ ...weather, name: 'clock' }],
    },
    'tools: `custom`': { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
    'tool_choice, function_call': {
      tools: [{ type: 'function', function: weather }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    },
    'tool_choice: others': {
      tools: [{ type: 'function', function: weather }],
      tool_choice: 'sometimes',
    },
    parallel_tool_calls: {
      tools: [{ type: 'function', function: weather }],
      parallel_tool_calls: false,
    },
    'max_tokens, max_completion_tokens': { max_tokens: 99 },
    response_format: { response_format: { type: 'json_object' } },
    'response_format: other types': { response_format: { type: 'grammar' } },
    n: { n: 2 },
    temperature: { temperature: 0.5 },
    top_p: { top_p: 0.5 },
    top_k: { top_k: 5 },
    presence_penalty: { presence_penalty: 0.5 },
    frequency_penalty: { frequency_penalty: 0.5 },
    stop: { stop: ['x'] },
    seed: { seed: 7 },
    'logprobs, top_logprobs': { logprobs: true, top_logprobs: 2 },
    logit_bias: { logit_bias: { 5: 1 } },
    reasoning_effort: { reasoning_effort: 'high' },
    verbosity: { verbosity: 'low' },
    'modalities: `image`': { modalities: ['text', 'image'] },
    'modalities: `audio`, audio': {
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
    },
    web_search_options: { web_search_options: {} },
    prediction: { prediction: { type: 'content', content: 'x' } },
    service_tier: { service_tier: 'priority' },
    'safety_identifier, user': { safety_identifier: 'u', user: 'u' },
    'prompt_cache_key, prompt_cache_retention, prompt_cache_options': { prompt_cache_key: 'k' },
    cache_control: { cache_control: { type: 'ephemeral' } },
    'messages, tools: `cache_control`': {
      messages: [{ ...text, cache_control: { type: 'ephemeral' } }],
      tools: [{ type: 'function', function: weather, cache_control: { type: 'ephemeral' } }],
    },
    'metadata, store, stream, stream_options': { metadata: { a: 'b' }, store: true, stream: true },
    'any other member': { min_p: 0.1 },
  },
  messages: {
    system: { system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }] },
    'messages: text, images, documents, calls, results': {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
            { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'x' }] },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'weather', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'rain' }] },
      ],
    },
    'messages: `is_error` of a result': {
      messages: [
        text,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'weather', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }] },
      ],
    },
    'messages: thoughts that the gateway sealed': {
      messages: [text, { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'gws1.x' }] }, text],
    },
    'messages: thoughts that Anthropic signed': {
      messages: [
        text,
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'abc' }] },
        text,
      ],
    },
    'messages: calls and results of tools that Anthropic runs': {
      messages: [
        text,
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
            { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
          ],
        },
        text,
      ],
    },
    'messages: calls of MCP servers by Anthropic (`mcp_tool_use`), and their results': {
      messages: [
        text,
        {
          role: 'assistant',
          content: [
            { type: 'mcp_tool_use', id: 'm', name: 'ask', server_name: 'wiki', input: {} },
            { type: 'mcp_tool_result', tool_use_id: 'm', content: [{ type: 'text', text: 'Yes.' }] },
          ],
        },
        text,
      ],
    },
    'messages: `tool_reference`': {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'search', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'tool_reference', tool_name: 'weather' }],
            },
          ],
        },
      ],
    },
    'messages: `tool_addition`, `tool_removal`': {
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      messages: [
        text,
        {
          role: 'system',
          content: ['tool_removal', 'tool_addition'].map((type) => ({
            type,
            tool: { type: 'tool_reference', name: 'weather' },
          })),
        },
      ],
    },
    'messages, system: other roles, blocks and sources': {
      messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'f' }] }],
    },
    'messages: `file_id`': {
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file-1' } }] },
      ],
    },
    'tools: with an `input_schema`': { tools: [{ name: 'weather', input_schema: { type: 'object' } }] },
    'tools: `bash_…`, `text_editor_…`, `memory_…`': {
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
        { type: 'memory_20250818', name: 'memory' },
      ],
    },
    'tools: `computer_…`': {
      tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 }],
    },
    'tools: others (`web_search_…`)': {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
    tool_choice: {
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'weather' },
    },
    'tool_choice: a tool that Anthropic runs, others': {
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    'tool_choice: `disable_parallel_tool_use`': {
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    max_tokens: { max_tokens: 99 },
    'max_tokens: 0': { max_tokens: 0 },
    'output_config.format, output_format': {
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    },
    'output_config.format: other types': { output_config: { format: { type: 'grammar' } } },
    'output_config.effort': { output_config: { effort: 'high' } },
    'output_config: others': { output_config: { task_budget: 5 } },
    'thinking: `enabled`, with a budget': { thinking: { type: 'enabled', budget_tokens: 4096 } },
    'thinking: `disabled`': { thinking: { type: 'disabled' } },
    'thinking: others': { thinking: { type: 'always' } },
    temperature: { temperature: 0.5 },
    top_p: { top_p: 0.5 },
    top_k: { top_k: 5 },
    stop_sequences: { stop_sequences: ['x'] },
    service_tier: { service_tier: 'standard_only' },
    'cache_control, metadata, user_profile_id': {
      cache_control: { type: 'ephemeral' },
      metadata: { user_id: 'u' },
    },
    stream: { stream: true },
    'members of betas (`context_management`, …)': { context_management: { edits: [{}] } },
    'any other member': { presence_penalty: 1 },
  },
};

function parse(wire: Wire, more: Json): Inference {
  const base = { model: 'm' };
  if (wire === 'messages') {
    const body = { ...base, max_tokens: 8192, messages: [text], ...more };
    const origin = { provider: 'other', model: 'other', payload: {} };
    return parseMessagesCall(body as never, {}, () => origin);
  }
  if (wire === 'chat') return parseChat({ ...base, messages: [text], ...more } as never, () => undefined);
  const body = { ...base, ...input(), ...more };
  return parseResponses(
    body as never,
    parseInput(body.input, () => undefined),
  );
}

type Outcome = 'sent' | 'dropped' | 'refused';

async function* noBatches() {}

function outcomeAt({ adapter, model }: { adapter: Adapter; model: string }, parsed: Inference): Outcome {
  if (untranslatable(parsed) !== undefined) return 'refused';
  const own = withoutForeignItems(parsed);
  const inference = withPlainTools(own)?.inference ?? own;
  const needsPlain = parsed.wire === 'responses' || adapter !== targets.chat['Responses upstreams']?.adapter;
  try {
    const request = adapter.request({
      inference: needsPlain ? inference : own,
      model,
      wire: undefined,
      key: 'k',
      outputTokensMax: undefined,
    });
    const answer = { kind: 'stream', batches: noBatches(), dropped: request.dropped ?? [] } as const;
    const { dropped = [] } = stoppedAnswer(
      answer,
      { inference, wire: undefined },
      inference.sampling.stop ?? [],
    );
    return dropped.length > 0 ? 'dropped' : 'sent';
  } catch (error) {
    if (error instanceof ApiError) throw error;
    return 'refused';
  }
}

/** The rows of a table of the guide: the first cell, then one per target. */
function tableIn(guide: string, heading: string): Map<string, string[]> {
  const section = guide.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.map((line) => line.slice(2, -2).split(' | '));
  return new Map(cells.map(([name = '', ...rest]) => [name.replace(/^`(.*)`$/, '$1'), rest]));
}

const guide = readFileSync('docs/translation.md', 'utf8');
const headings = {
  responses: 'From the Responses format',
  chat: 'From the chat-completions format',
  messages: 'From the Messages format',
};
/** What the guide calls each outcome. */
const words: Record<string, Outcome> = {
  sent: 'sent',
  emulated: 'sent',
  '–': 'sent',
  dropped: 'dropped',
  refused: 'refused',
};

describe.each(['responses', 'chat', 'messages'] as const)('a call in the %s format', (wire) => {
  const table = tableIn(guide, headings[wire]);
  const names = Object.keys(targets[wire]);

  test('has a row in the guide for each sample, and no other', () => {
    expect(table.get('Member')).toEqual(names);
    expect([...table.keys()].filter((name) => name !== 'Member' && !/^-+$/.test(name))).toEqual(
      Object.keys(samples[wire]),
    );
  });

  test.each(Object.entries(samples[wire]))('%s is treated as the guide says', (name, body) => {
    const outcomes = Object.values(targets[wire]).map((target) => outcomeAt(target, parse(wire, body)));
    expect(outcomes).toEqual(table.get(name)?.map((word) => words[word]));
  });

  test('has no member that is sent, and whose fate the guide leaves open', () => {
    const rows = [
      ...table.keys(),
      'type, generate, model, messages, input, service, tool_choice, tools',
    ].join(' ');
    const inRows = ['previous_response_id', 'conversation', 'context_management', 'truncation', 'functions'];
    for (const name of Object.keys(members[wire])) {
      const parts = ['text', 'reasoning', 'include', 'modalities', ...inRows];
      if (!parts.includes(name)) expect(rows).toContain(name);
    }
  });
});

test('members without an effect are not reported', () => {
  const body = {
    model: 'm',
    temperature: 1,
    top_p: null,
    presence_penalty: 0,
    user: 'x',
    tools: [],
    text: {},
  };
  expect(droppedMembers(parse('responses', body), {})).toEqual([]);
});

test('a long history reports a bounded number of parts', () => {
  const items = Array.from({ length: 100 }, (_, id) => ({ type: 'web_search_call', id: `ws_${id}` }));
  const dropped = droppedMembers(parse('responses', input(...items)), {});
  expect(dropped).toHaveLength(32);
  expect(dropped[0]).toEqual({ param: 'input[1]', type: 'web_search_call' });
});
