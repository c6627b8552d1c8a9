import type { Endpoint } from '../../src/shared/contract/endpoint.ts';

/** What examples about people may name. */
export interface UserIds {
  /** Another login of the caller. */
  session?: string;
  /** A member of the workspace, or a user of the host. */
  user?: string;
  /** An open invitation to the workspace. */
  invitation?: string;
  /** A login code or invitation code. */
  code?: string;
  /** Of a user that is not there yet. */
  handle?: string;
}

/** What examples of the site API may name. */
export interface SiteIds {
  /** An access token of the caller's. */
  token?: string;
  /** The handle of another user. */
  peer?: string;
  /** A whisper to the caller. */
  whisper?: string;
  /** A shout of the caller's. */
  shout?: string;
  /** An autopilot of the caller's. */
  autopilot?: string;
}

/** What examples about threads may name. */
export interface ThreadIds {
  thread?: string;
  /** One of its runs. */
  run?: string;
}

/** What an example may name: ids that are there when it is sent. */
export interface ExampleIds extends UserIds, SiteIds, ThreadIds {
  workspace: string;
  /** A stored response. */
  response: string;
  /** A finished request. */
  request: string;
  /** An active API key. */
  key: string;
}

export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

const hello = { model: 'sim/echo', input: 'Hello.' };

/** A call that succeeds, for each endpoint by its id. */
const examples: Record<string, (ids: ExampleIds) => ExampleCall> = {
  createResponse: () => ({ body: hello }),
  connectResponses: () => ({}),
  compactResponse: () => ({ body: hello }),
  createChatCompletion: () => ({
    body: { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] },
  }),
  getResponse: ({ response }) => ({ params: { id: response } }),
  deleteResponse: ({ response }) => ({ params: { id: response } }),
  cancelResponse: ({ response }) => ({ params: { id: response } }),
  listResponses: () => ({ query: { limit: '5' } }),
  listInputItems: ({ response }) => ({ params: { id: response }, query: { order: 'asc' } }),
  listModels: () => ({}),
  getModel: () => ({ params: { model: 'sim/assistant' } }),
  refreshModels: () => ({}),
  listRates: () => ({}),
  listKeys: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  issueKey: ({ workspace }) => ({
    params: { workspace },
    body: { name: 'another', scopes: ['responses'] },
  }),
  revokeKey: ({ workspace, key }) => ({ params: { workspace, key } }),
  showKey: ({ workspace, key }) => ({ params: { workspace, key } }),
  setKeyDefaults: ({ workspace, key }) => ({ params: { workspace, key }, body: { cache: 'read-write' } }),
  getLimits: ({ workspace, key }) => ({ params: { workspace, key } }),
  setLimits: ({ workspace, key }) => ({
    params: { workspace, key },
    body: { spend_cap: { usd: '5', period: 'day' }, models: ['sim/*'], max_price: null },
  }),
  grantCredit: () => ({ body: { workspace: 'me', usd: '5', note: 'A present.' } }),
  listCredit: () => ({}),
  verifyLedger: () => ({}),
  getLedgerCheck: () => ({}),
  getKey: () => ({}),
  getUsage: ({ request }) => ({ params: { request_id: request } }),
  listUsage: () => ({ query: { group_by: 'model' } }),
  tokensServed: () => ({}),
  getTrace: ({ request }) => ({ params: { request_id: request } }),
  listTraces: () => ({ query: { status: 'completed', limit: '5' } }),
  getMetrics: () => ({}),
  createThread: () => ({ body: { title: 'Rain' } }),
  listThreads: () => ({ query: { limit: '5' } }),
  getThread: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  updateThread: ({ thread = 'th_1' }) => ({ params: { id: thread }, body: { title: 'Snow' } }),
  deleteThread: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  listThreadMessages: ({ thread = 'th_1' }) => ({ params: { id: thread }, query: { limit: '5' } }),
  followThread: ({ thread = 'th_1' }) => ({ params: { id: thread }, query: { after: '0' } }),
  stopThread: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  listChats: () => ({ query: { limit: '5' } }),
  createChat: () => ({ body: { title: 'Rain' } }),
  getChat: ({ thread = 'th_1' }) => ({ params: { conversationId: thread } }),
  listChatMessages: ({ thread = 'th_1' }) => ({ params: { conversationId: thread }, query: { limit: '5' } }),
  listRuns: ({ thread = 'th_1' }) => ({ params: { conversationId: thread }, query: { limit: '5' } }),
  listRunEvents: ({ thread = 'th_1', run = 'run_1' }) => ({ params: { conversationId: thread, run } }),
  streamEvents: () => ({ query: { after: '0' } }),
  getCache: ({ workspace }) => ({ params: { workspace } }),
  clearCache: ({ workspace }) => ({ params: { workspace } }),
  listProviderKeys: ({ workspace }) => ({ params: { workspace } }),
  putProviderKey: ({ workspace }) => ({
    params: { workspace, provider: 'vercel' },
    body: { key: 'vck_example0123456789abcdef' },
  }),
  deleteProviderKey: ({ workspace }) => ({ params: { workspace, provider: 'vercel' } }),
  checkProviderKey: ({ workspace }) => ({ params: { workspace, provider: 'openai' } }),
  getVault: () => ({}),
  unlockVault: () => ({ body: {} }),
  rotateVault: () => ({ body: {} }),
  exportVault: () => ({}),
  createSession: ({ code = 'AAAAA-AAAAA' }) => ({ body: { code, name: 'laptop' } }),
  getSession: () => ({}),
  listSessions: () => ({ query: { limit: '5' } }),
  signOut: () => ({}),
  deleteSession: ({ session = 'key_1' }) => ({ params: { session } }),
  addUser: ({ handle = 'somebody' }) => ({ body: { handle, name: 'Somebody' } }),
  listUsers: () => ({ query: { limit: '5' } }),
  createLoginCode: ({ user = 'usr_1' }) => ({ params: { user } }),
  createWorkspace: () => ({ body: { name: 'Laboratory' } }),
  listWorkspaces: () => ({ query: { limit: '5' } }),
  getWorkspace: ({ workspace }) => ({ params: { workspace } }),
  updateWorkspace: ({ workspace }) => ({ params: { workspace }, body: { name: 'Personal' } }),
  listMembers: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  updateMember: ({ workspace, user = 'usr_1' }) => ({
    params: { workspace, user },
    body: { role: 'member' },
  }),
  removeMember: ({ workspace, user = 'usr_1' }) => ({ params: { workspace, user } }),
  createInvitation: ({ workspace }) => ({ params: { workspace }, body: { role: 'member', note: 'for Ann' } }),
  listInvitations: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  revokeInvitation: ({ workspace, invitation = 'invite_1' }) => ({ params: { workspace, invitation } }),
  acceptInvitation: ({ code = 'AAAAA-AAAAA' }) => ({ body: { code } }),
  listTokens: () => ({}),
  createToken: () => ({ body: { name: 'laptop', abilities: ['whispers:read', 'whispers:write'] } }),
  revokeCurrentToken: () => ({}),
  revokeToken: ({ token = 'tok_1' }) => ({ params: { tokenId: token } }),
  revokeTokens: () => ({}),
  getProfile: () => ({}),
  updateProfile: () => ({ body: { name: 'Somebody Else' } }),
  deleteProfile: () => ({ body: { email: 'nobody@example.com' } }),
  getMe: () => ({ query: { chat_limit: '5' } }),
  callMcp: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
  listWhispers: () => ({ query: { limit: '5' } }),
  sendWhisper: ({ peer = 'somebody' }) => ({ body: { body: 'Hello.', recipientHandle: peer } }),
  listWhisperThreads: () => ({ query: { limit: '5' } }),
  streamWhispers: () => ({}),
  getWhisper: ({ whisper = '1' }) => ({ params: { id: whisper } }),
  readWhisper: ({ whisper = '1' }) => ({ params: { id: whisper } }),
  readAllWhispers: () => ({}),
  listShouts: () => ({ query: { limit: '5' } }),
  postShout: () => ({ body: { body: 'Hear me.', zone: 'dev' } }),
  listZones: () => ({ query: { limit: '5' } }),
  streamShouts: () => ({}),
  getShout: ({ shout = '1' }) => ({ params: { id: shout } }),
  deleteShout: ({ shout = '1' }) => ({ params: { id: shout } }),
  listAutopilots: () => ({ query: { limit: '5' } }),
  createAutopilot: () => ({ body: { displayName: 'Night Watch', policy: { model: 'sim/echo' } } }),
  getAutopilot: ({ autopilot = 'ap_1' }) => ({ params: { autopilot } }),
  updateAutopilot: ({ autopilot = 'ap_1' }) => ({ params: { autopilot }, body: { status: 'disabled' } }),
  archiveAutopilot: ({ autopilot = 'ap_1' }) => ({ params: { autopilot } }),
  health: () => ({}),
  ready: () => ({}),
  openApi: () => ({}),
  getReference: () => ({}),
  getStatus: () => ({}),
  createBackup: () => ({}),
  getConfiguration: () => ({}),
  reloadConfiguration: () => ({}),
  stopDaemon: () => ({}),
};

/** The example of an endpoint; one without an example fails, so that no endpoint goes untried. */
export function exampleOf({ id }: Endpoint, ids: ExampleIds): ExampleCall {
  const example = examples[id];
  if (example === undefined) throw new Error(`example-calls.ts has no example of ${id}`);
  return example(ids);
}

/** What `fetch` is called with. */
export function requestOf(
  { method, path }: Endpoint,
  { params = {}, query = {}, body }: ExampleCall,
): { path: string; method: string; headers: Record<string, string>; body?: string } {
  const filled = path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return {
    method,
    path: search === '' ? filled : `${filled}?${search}`,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}
