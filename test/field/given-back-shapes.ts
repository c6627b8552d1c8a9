import type { Format, GivenBack, Json } from './given-back.ts';

/** Answers that clients give back. The texts are ours. */

const city = '{"city":"Tórshavn"}';
const own: readonly Format[] = ['responses'];

const chatCall = (id: string, more: Json = {}, args: unknown = city, name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
});
const text = (value: string, more: Json = {}) => ({ type: 'text', text: value, ...more });
const use = (id: string, input: Json = { city: 'Tórshavn' }, name = 'f') => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const thought = (signature: string | undefined, thinking = 'Which town?') => ({
  type: 'thinking',
  thinking,
  ...(signature !== undefined && { signature }),
});
const message = (parts: Json[], id = 'msg_1') => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: parts,
});
const said = (value: string, annotations: Json[] = []) => ({
  type: 'output_text',
  text: value,
  annotations,
  logprobs: [],
});
const call = (call_id: string, args: string = city, name = 'f') => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
  status: 'completed',
});
const reasoning = (encrypted_content: string, summary = 'Which town?') => ({
  type: 'reasoning',
  id: `rs_${encrypted_content}`,
  summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
  encrypted_content,
});
const thoughts = {
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Which town?' }],
};
const item = (type: string, more: Json) => ({ type, id: `x_${type}`, status: 'completed', ...more });
const signature = (value: string) => ({ extra_content: { google: { thought_signature: value } } });
const picture = `data:image/png;base64,${Buffer.from('not really a picture').toString('base64')}`;
const source = { url: 'https://weather.example/faroe', title: 'The weather' };

const ofChat: Omit<GivenBack, 'wire'>[] = [
  { name: 'a text', answer: { content: 'It rains.' }, again: ['It rains.'] },
  { name: 'an empty text', answer: { content: '' }, finish: 'stop', again: [] },
  { name: 'a call', answer: { content: null, tool_calls: [chatCall('call_1')] }, again: ['Tórshavn'] },
  {
    name: 'a text and two calls',
    answer: { content: 'I look.', tool_calls: [chatCall('call_1'), chatCall('call_2', {}, '{}', 'g')] },
    again: ['I look.', 'Tórshavn', '"name":"g"'],
  },
  {
    name: 'calls without arguments',
    answer: {
      content: null,
      tool_calls: ['', ' ', 'null', '[]'].map((args, at) => chatCall(`call_${at}`, {}, args)),
    },
    again: ['"{}"'],
  },
  {
    name: 'a call with the text of a text',
    answer: { content: null, tool_calls: [chatCall('call_1', {}, JSON.stringify(city))] },
    again: ['Tórshavn'],
  },
  {
    name: 'calls with the same id',
    answer: { content: null, tool_calls: [chatCall('0'), chatCall('0', {}, '{}', 'g')] },
    again: ['Tórshavn'],
  },
  {
    name: 'reasoning_content and a call',
    cite: 'anomalyco/opencode#25758',
    answer: { reasoning_content: 'Which town?', content: null, tool_calls: [chatCall('call_1')] },
    again: [],
  },
  {
    name: 'thoughts between tags, a text and a call',
    cite: 'vellum-ai/vellum-assistant#34556',
    answer: { content: '<think>\nWhich town?\n</think>\n\nI look.', tool_calls: [chatCall('call_1')] },
    again: ['<think>\\nWhich town?\\n</think>\\n\\nI look.', 'Tórshavn'],
  },
  {
    name: 'thoughts between tags, and a call',
    answer: { content: '<mm:think>Which town?</mm:think>', tool_calls: [chatCall('call_1')] },
    again: ['<mm:think>', 'Which town?', '</mm:think>'],
  },
  {
    name: 'reasoning_details with a signature, and a call',
    cite: 'OpenRouterTeam/ai-sdk-provider#22',
    answer: {
      reasoning: 'Which town?',
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: 'Which town?',
          signature: 'SIG_D1',
          format: 'anthropic-claude-v1',
          index: 0,
        },
        { type: 'reasoning.encrypted', data: 'DATA_D2', format: 'openai-responses-v1', id: 'rs_1', index: 1 },
      ],
      content: null,
      tool_calls: [chatCall('call_1')],
    },
    again: ['SIG_D1', 'DATA_D2', '"text":"Which town?"'],
  },
  {
    name: 'reasoning_details after a call, by its id',
    cite: 'earendil-works/pi#260',
    answer: {
      content: null,
      tool_calls: [chatCall('call_1')],
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'DATA_D4', id: 'call_1', format: 'google-gemini-v1', index: 0 },
      ],
    },
    isLate: true,
    again: ['DATA_D4', '"id":"call_1"'],
  },
  {
    name: 'thinking_blocks after a text and a call',
    cite: 'BerriAI/litellm#9020',
    answer: { content: 'I look.', thinking_blocks: [thought('SIG_B2')], tool_calls: [chatCall('call_1')] },
    isLate: true,
    again: ['SIG_B2', '"thinking":"Which town?"'],
  },
  {
    name: 'a thought signature after a text',
    cite: 'noho/dayu-agent#45',
    answer: { content: 'It rains.', ...signature('SIG_T3') },
    isLate: true,
    clients: ['chat', 'responses'],
    again: ['SIG_T3'],
  },
  {
    name: 'reasoning_details without a text, and a text',
    answer: {
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'DATA_D3', id: 'rs_1', index: 0 }],
      content: 'It rains.',
    },
    // A Messages client does not get thoughts without a text at the end of a conversation's turn.
    again: ['It rains.'],
    againToOwn: ['DATA_D3'],
  },
  {
    name: 'thought signatures of two calls',
    cite: 'vercel/ai#10344',
    answer: {
      content: null,
      tool_calls: [
        chatCall('call_1', signature('SIG_A1')),
        chatCall('call_2', signature('SIG_A2'), '{}', 'g'),
      ],
    },
    again: ['SIG_A1', 'SIG_A2'],
  },
  {
    name: 'a thought signature of the message',
    cite: 'noho/dayu-agent#45',
    answer: { content: 'It rains.', ...signature('SIG_T1') },
    again: ['It rains.', 'SIG_T1'],
  },
  {
    name: 'a thought signature of the message, and a call',
    answer: {
      content: 'I look.',
      ...signature('SIG_T2'),
      tool_calls: [chatCall('call_1', signature('SIG_A3'))],
    },
    again: ['SIG_T2', 'SIG_A3'],
  },
  {
    name: 'thought signatures of LiteLLM',
    cite: 'BerriAI/litellm#16895',
    answer: {
      content: null,
      tool_calls: [chatCall('call_1', { provider_specific_fields: { thought_signature: 'SIG_L1' } })],
    },
    again: ['SIG_L1'],
  },
  {
    name: 'thinking_blocks of LiteLLM',
    cite: 'BerriAI/litellm#9020',
    answer: {
      reasoning_content: 'Which town?',
      thinking_blocks: [thought('SIG_B1')],
      content: null,
      tool_calls: [chatCall('call_1')],
    },
    again: ['SIG_B1', '"thinking":"Which town?"'],
  },
  { name: 'a refusal', answer: { content: null, refusal: 'I cannot.' }, again: ['I cannot.'] },
  {
    name: 'a filtered text',
    answer: { content: 'It ra' },
    finish: 'content_filter',
    again: ['It ra'],
  },
  {
    name: 'images',
    answer: { content: 'Here.', images: [{ type: 'image_url', image_url: { url: picture } }] },
    again: ['Here.'],
  },
  {
    name: 'annotations',
    answer: {
      content: 'It rains.',
      annotations: [{ type: 'url_citation', url_citation: { ...source, start_index: 0, end_index: 9 } }],
    },
    again: ['It rains.'],
  },
  {
    name: 'a custom call',
    answer: {
      content: null,
      tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }],
    },
    clients: ['chat'],
    again: ['*** Begin'],
  },
  {
    name: 'a call of the function that stands for a custom tool',
    answer: { content: null, tool_calls: [chatCall('call_1', {}, '{"input":"*** Begin"}', 'patch')] },
    clients: own,
    again: ['*** Begin'],
  },
  {
    name: 'calls of the functions that stand for shells and patches',
    cite: 'router-for-me/CLIProxyAPI#4812',
    answer: {
      content: null,
      tool_calls: [
        chatCall('call_1', {}, '{"commands":["ls"]}', 'shell'),
        chatCall('call_2', {}, '{"command":["ls"]}', 'local_shell'),
        chatCall('call_3', {}, '{"type":"delete_file","path":"a.txt"}', 'apply_patch'),
      ],
    },
    clients: own,
    again: ['"name":"shell"', '"name":"local_shell"', '"name":"apply_patch"', 'commands', 'delete_file'],
  },
];

const ofResponses: Omit<GivenBack, 'wire'>[] = [
  { name: 'a text', answer: [message([said('It rains.')])], again: ['It rains.'] },
  {
    name: 'two messages',
    answer: [message([said('I look.')]), message([said('It rains.')], 'msg_2')],
    again: ['I look.', 'It rains.'],
  },
  { name: 'nothing', answer: [], again: [] },
  { name: 'an empty text', answer: [message([said('')])], again: [] },
  {
    name: 'reasoning and a text',
    answer: [reasoning('ENC_1'), message([said('It rains.')])],
    again: ['ENC_1', 'It rains.'],
  },
  {
    name: 'reasoning without a summary, and two calls',
    answer: [reasoning('ENC_2', ''), call('call_1'), call('call_2', '{}', 'g')],
    again: ['ENC_2', 'Tórshavn', '"name":"g"'],
  },
  {
    name: 'reasoning between calls',
    answer: [reasoning('ENC_3'), call('call_1'), reasoning('ENC_4'), call('call_2', '{}', 'g')],
    again: ['ENC_3', 'ENC_4'],
  },
  {
    name: 'thoughts that can be read, and a call',
    cite: 'openai/codex#42249',
    answer: [
      { ...thoughts, id: 'rs_5' },
      call('call_1'),
      { ...thoughts, id: 'rs_6', encrypted_content: 'ENC_6' },
      call('call_2', '{}', 'g'),
    ],
    again: ['"reasoning_text","text":"Which town?"', 'rs_5', 'rs_6', 'ENC_6'],
  },
  { name: 'a call without arguments', answer: [call('call_1', '')], again: ['"{}"'] },
  { name: 'a refusal', answer: [message([{ type: 'refusal', refusal: 'I cannot.' }])], again: ['I cannot.'] },
  {
    name: 'citations',
    answer: [
      item('web_search_call', { id: 'ws_1', action: { type: 'search', query: 'weather' } }),
      message([said('It rains.', [{ type: 'url_citation', ...source, start_index: 0, end_index: 9 }])]),
    ],
    again: ['It rains.'],
    againToOwn: ['ws_1', 'weather.example'],
  },
  {
    name: 'calls that the provider ran',
    answer: [
      item('file_search_call', { id: 'fs_1', queries: ['weather'], results: null }),
      item('code_interpreter_call', { id: 'ci_1', code: '1', container_id: 'c', outputs: [] }),
      item('mcp_list_tools', { id: 'mcpl_1', server_label: 's', tools: [] }),
      item('mcp_call', { id: 'mcp_1', server_label: 's', name: 'weather', arguments: '{}', output: 'Rain.' }),
      message([said('It rains.')]),
    ],
    again: ['It rains.'],
    againToOwn: ['fs_1', 'ci_1', 'mcpl_1', 'mcp_1'],
  },
  {
    name: 'a picture',
    answer: [item('image_generation_call', { id: 'ig_1', result: 'aGVsbG8=' }), message([said('Here.')])],
    again: ['Here.'],
    againToOwn: ['ig_1'],
  },
  {
    name: 'a compaction',
    answer: [item('compaction', { id: 'cmp_1', encrypted_content: 'CMP_1' }), message([said('It rains.')])],
    clients: own,
    again: ['CMP_1'],
  },
  {
    name: 'a custom call',
    answer: [item('custom_tool_call', { id: 'ctc_1', call_id: 'call_1', name: 'patch', input: '*** Begin' })],
    clients: ['responses', 'chat'],
    again: ['*** Begin'],
  },
  {
    name: 'calls of shells and patches',
    answer: [
      reasoning('ENC_5'),
      item('shell_call', { id: 'sh_1', call_id: 'call_1', action: { commands: ['ls'], timeout_ms: null } }),
      item('local_shell_call', {
        id: 'ls_1',
        call_id: 'call_2',
        action: { type: 'exec', command: ['ls'], env: {} },
      }),
      item('apply_patch_call', {
        id: 'ap_1',
        call_id: 'call_3',
        operation: { type: 'delete_file', path: 'a.txt' },
      }),
    ],
    clients: own,
    again: ['ENC_5', 'shell_call_output', 'local_shell_call_output', 'apply_patch_call_output'],
  },
  {
    name: 'a request for approval',
    answer: [
      item('mcp_approval_request', { id: 'mcpr_1', server_label: 's', name: 'weather', arguments: '{}' }),
    ],
    clients: own,
    again: ['mcpr_1', 'approve'],
  },
  {
    name: 'an item of an unknown type',
    answer: [item('hologram', { id: 'holo_1', light: 'blue' }), message([said('Here.')])],
    again: ['Here.'],
    againToOwn: ['holo_1'],
  },
  {
    name: 'a text that was cut',
    answer: [message([said('It ra')])],
    finish: 'max_output_tokens',
    again: ['It ra'],
  },
];

const citation = {
  type: 'web_search_result_location',
  ...source,
  cited_text: 'Rain.',
  encrypted_index: 'IDX_1',
};
const place = {
  type: 'char_location',
  cited_text: 'Rain.',
  document_index: 0,
  document_title: 'Report',
  start_char_index: 0,
  end_char_index: 5,
  file_id: null,
};

const ofMessages: Omit<GivenBack, 'wire'>[] = [
  { name: 'a text', answer: [text('It rains.')], again: ['It rains.'] },
  { name: 'two texts', answer: [text('It rains.'), text(' And more.')], again: ['It rains.', 'And more.'] },
  { name: 'blank texts', answer: [text('\n'), text('It rains.'), text(' ')], again: ['It rains.'] },
  { name: 'nothing', answer: [], again: [] },
  {
    name: 'a signed thought and a text',
    answer: [thought('SIG_1'), text('It rains.')],
    again: ['SIG_1', 'It rains.'],
  },
  {
    name: 'a signed thought and two calls',
    answer: [thought('SIG_2'), text('I look.'), use('toolu_1'), use('toolu_2', {}, 'g')],
    again: ['SIG_2', 'I look.', 'Tórshavn'],
  },
  {
    name: 'thoughts between calls',
    answer: [thought('SIG_3'), use('toolu_1'), thought('SIG_4', 'And now?'), use('toolu_2', {}, 'g')],
    again: ['SIG_3', 'SIG_4'],
  },
  {
    name: 'a thought without a text, and a call',
    cite: 'anthropics/claude-code#88536',
    answer: [thought('SIG_5', ''), use('toolu_1')],
    again: ['SIG_5'],
  },
  {
    name: 'a redacted thought and a call',
    answer: [{ type: 'redacted_thinking', data: 'DATA_1' }, use('toolu_1')],
    again: ['DATA_1'],
  },
  {
    name: 'an unsigned thought and a call',
    answer: [thought(undefined), use('toolu_1')],
    again: ['Which town?'],
  },
  {
    name: 'a refusal without content',
    answer: [],
    finish: 'refusal',
    again: [],
  },
  { name: 'a refusal after a text', answer: [text('It ra')], finish: 'refusal', again: ['It ra'] },
  {
    name: 'a closing thought after a call',
    answer: [thought('SIG_6'), use('toolu_1'), thought('SIG_7', 'Done.')],
    again: ['SIG_6', 'Tórshavn'],
  },
  { name: 'a thought alone, which was cut', answer: [thought('SIG_8')], finish: 'max_tokens', again: [] },
  {
    name: 'citations',
    answer: [text('It '), text('rains', { citations: [citation, place] }), text('.')],
    again: ['rains'],
    againToOwn: ['IDX_1', 'char_location'],
  },
  {
    name: 'a search that the provider ran',
    answer: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', ...source, encrypted_content: 'ENC_W1', page_age: null }],
      },
      text('It rains.', { citations: [citation] }),
    ],
    again: ['It rains.'],
    againToOwn: ['ENC_W1', 'srvtoolu_1', 'IDX_1'],
  },
  {
    name: 'a call of the function that stands for a custom tool',
    answer: [thought('SIG_9'), use('toolu_1', { input: '*** Begin' }, 'patch')],
    clients: ['responses', 'chat'],
    again: ['SIG_9', '*** Begin'],
  },
  {
    name: 'calls of the functions that stand for shells and patches',
    answer: [
      thought('SIG_10'),
      use('toolu_1', { commands: ['ls'] }, 'shell'),
      use('toolu_2', { command: ['ls'] }, 'local_shell'),
      use('toolu_3', { type: 'delete_file', path: 'a.txt' }, 'apply_patch'),
    ],
    clients: own,
    again: ['SIG_10', '"name":"shell"', '"name":"local_shell"', '"name":"apply_patch"', 'delete_file'],
  },
  {
    name: 'a compaction',
    answer: [{ type: 'compaction', content: 'Notes.' }, text('It rains.')],
    again: ['It rains.'],
    againToOwn: ['Notes.'],
  },
  {
    name: 'a block of an unknown type',
    answer: [{ type: 'hologram', light: 'blue' }, text('Here.')],
    again: ['Here.'],
    againToOwn: ['blue'],
  },
];

export const shapes: readonly GivenBack[] = [
  ...ofChat.map((shape) => ({ ...shape, wire: 'chat' as const })),
  ...ofResponses.map((shape) => ({ ...shape, wire: 'responses' as const })),
  ...ofMessages.map((shape) => ({ ...shape, wire: 'messages' as const })),
];
