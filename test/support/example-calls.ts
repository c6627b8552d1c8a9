import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import {
  anonymousOnly,
  anyLogin,
  conflict,
  forbidden,
  forEveryone,
  identified,
  loginOnly,
  modelCall,
  notAnAgent,
  notForAgents,
  notFound,
  nothingThere,
  ofAdmins,
  ofKeyOwner,
  ofOthers,
  ofSite,
  ofWorkspace,
  ok,
  openModelCall,
  ownThing,
  ownTokens,
  ownWorkspace,
  type Row,
  scoped,
  site,
  siteForbidden,
  siteForEveryone,
  siteInvalid,
  siteNotFound,
  siteSignedOut,
  socket,
} from './callers.ts';

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
  /** An invoice of the caller's, and a payment of theirs. */
  invoice?: string;
  payment?: string;
  /** A paywall of the caller's, and a path that no paywall serves. */
  paywall?: string;
  paywallPath?: string;
  /** An invoice of another user as BOLT 11 text. */
  paymentRequest?: string;
  /** Credit that the caller is buying. */
  purchase?: string;
}

/** A sign-up challenge and its solution. */
export interface SignUpProof {
  challenge?: string;
  proof?: string;
}

/** What examples about threads may name. */
export interface ThreadIds {
  thread?: string;
  /** One of its runs. */
  run?: string;
}

/** What an example may name: ids that are there when it is sent. */
export interface ExampleIds extends UserIds, SiteIds, ThreadIds, SignUpProof {
  workspace: string;
  /** A stored response. */
  response: string;
  /** A finished request. */
  request: string;
  /** An active API key. */
  key: string;
}

/** Valid ids of nothing that exists. */
export const placeholderIds: ExampleIds = {
  workspace: 'me',
  response: 'resp_1',
  request: 'req_1',
  key: 'key_1',
};

export interface ExampleCall {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

const ofPeers: Row = { ...loginOnly, admin: ok };

const hello = { model: 'sim/echo', input: 'Hello.' };

interface Sample {
  /** What each kind of caller gets, as it was decided; the contract has to agree. */
  callers: Row;
  /** A call that succeeds; by default without parameters and body. */
  example?: (ids: ExampleIds) => ExampleCall;
}

/** Each endpoint by its id. */
const samples: Record<string, Sample> = {
  createAgentChallenge: {
    callers: anonymousOnly,
  },
  createAgent: {
    callers: anonymousOnly,
    example: ({ challenge = 'none', proof = 'none' }) => ({ body: { name: 'Scout', challenge, proof } }),
  },
  getAgent: {
    callers: {
      ...identified,
      keyWithoutScope: notAnAgent,
      keyWithScope: notAnAgent,
      login: notAnAgent,
      strangerKey: notAnAgent,
      strangerLogin: notAnAgent,
    },
  },
  createResponse: {
    callers: modelCall,
    example: () => ({ body: hello }),
  },
  connectResponses: {
    callers: socket,
  },
  compactResponse: {
    callers: modelCall,
    example: () => ({ body: hello }),
  },
  createChatCompletion: {
    callers: modelCall,
    example: () => ({
      body: { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] },
    }),
  },
  createMessage: {
    callers: modelCall,
    example: () => ({
      body: { model: 'sim/echo', max_tokens: 64, messages: [{ role: 'user', content: 'Hello.' }] },
    }),
  },
  countInputTokens: {
    callers: modelCall,
    example: () => ({ body: hello }),
  },
  countMessageTokens: {
    callers: modelCall,
    example: () => ({ body: { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] } }),
  },
  previewResponse: {
    callers: modelCall,
    example: () => ({ body: hello }),
  },
  previewChatCompletion: {
    callers: modelCall,
    example: () => ({ body: { model: 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] } }),
  },
  previewMessage: {
    callers: modelCall,
    example: () => ({
      body: { model: 'sim/echo', max_tokens: 64, messages: [{ role: 'user', content: 'Hello.' }] },
    }),
  },
  previewEmbedding: {
    callers: modelCall,
    example: () => ({ body: { model: 'sim/embedding', input: ['First', 'Second'] } }),
  },
  createEmbedding: {
    callers: modelCall,
    example: () => ({ body: { model: 'sim/embedding', input: ['First', 'Second'] } }),
  },
  createDecision: {
    callers: openModelCall,
    example: () => ({
      body: {
        model: 'sim/assistant',
        input: 'I want my money back.',
        questions: [
          { type: 'predicate', instructions: 'Does the customer want money back?', name: 'refund' },
          {
            type: 'choice',
            instructions: 'Who should answer?',
            choices: [{ value: 'billing' }, { value: true }],
          },
          { type: 'score', instructions: 'How urgent is it?', levels: [{ label: 'low' }, { label: 'high' }] },
        ],
      },
    }),
  },
  listCalibrations: {
    callers: loginOnly,
  },
  putCalibration: {
    callers: loginOnly,
    example: () => ({
      body: {
        model: 'sim/echo',
        type: 'choice',
        temperature: 1.5,
        examples: 200,
        nll_before: 0.71,
        nll_after: 0.52,
      },
    }),
  },
  deleteCalibration: {
    callers: loginOnly,
    example: () => ({ query: { type: 'choice', model: 'sim/echo' } }),
  },
  listEngineModels: {
    callers: loginOnly,
  },
  addEngineModel: {
    callers: { ...loginOnly, login: '400 invalid_request invalid_request' },
    example: () => ({ body: { path: '/nowhere/model.gguf' } }),
  },
  checkEngineModel: {
    callers: { ...loginOnly, login: notFound },
    example: () => ({ params: { name: 'nothing' } }),
  },
  removeEngineModel: {
    callers: { ...loginOnly, login: notFound },
    example: () => ({ params: { name: 'nothing' } }),
  },
  createSystemOne: {
    callers: openModelCall,
    example: () => ({
      body: {
        model: 'sim/assistant',
        state: { text: 'I want my money back.' },
        questions: {
          refund: { type: 'noul', instructions: 'Does the customer want money back?' },
          team: {
            type: 'choice',
            instructions: 'Who should answer?',
            criteria: { billing: 'money', tech: null },
          },
          urgency: { type: 'score', instructions: 'How urgent is it?', criteria: ['low', 'high'] },
        },
      },
    }),
  },
  getResponse: {
    callers: { ...modelCall, ...ownThing },
    example: ({ response }) => ({ params: { id: response } }),
  },
  deleteResponse: {
    callers: { ...modelCall, ...ownThing },
    example: ({ response }) => ({ params: { id: response } }),
  },
  cancelResponse: {
    callers: { ...modelCall, ...ownThing },
    example: ({ response }) => ({ params: { id: response } }),
  },
  listResponses: {
    callers: modelCall,
    example: () => ({ query: { limit: '5' } }),
  },
  listInputItems: {
    callers: { ...modelCall, ...ownThing },
    example: ({ response }) => ({ params: { id: response }, query: { order: 'asc' } }),
  },
  listModels: {
    callers: forEveryone,
  },
  getModel: {
    callers: forEveryone,
    example: () => ({ params: { model: 'sim/assistant' } }),
  },
  refreshModels: {
    callers: loginOnly,
  },
  checkProviders: {
    callers: loginOnly,
  },
  checkCollector: {
    callers: loginOnly,
  },
  getProvider: {
    callers: loginOnly,
    example: () => ({ params: { provider: 'simulator' } }),
  },
  retryProvider: {
    callers: loginOnly,
    example: () => ({ params: { provider: 'simulator' } }),
  },
  listRates: {
    callers: forEveryone,
  },
  listKeys: {
    callers: { ...scoped, ...ownWorkspace },
    example: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  },
  issueKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({
      params: { workspace },
      body: { name: 'another', scopes: ['responses'] },
    }),
  },
  revokeKey: {
    callers: { ...scoped, ...ownThing, member: notFound, ...notForAgents },
    example: ({ workspace, key }) => ({ params: { workspace, key } }),
  },
  rotateKey: {
    // A key may only rotate itself and those it issued.
    callers: {
      ...scoped,
      ...ownThing,
      keyWithScope: notFound,
      admin: notFound,
      member: notFound,
      ...notForAgents,
    },
    example: ({ workspace, key }) => ({ params: { workspace, key }, body: { grace_seconds: 60 } }),
  },
  pauseKey: {
    callers: { ...scoped, ...ownThing, member: notFound, ...notForAgents },
    example: ({ workspace, key }) => ({ params: { workspace, key } }),
  },
  resumeKey: {
    callers: { ...scoped, ...ownThing, member: notFound, ...notForAgents },
    example: ({ workspace, key }) => ({ params: { workspace, key } }),
  },
  showKey: {
    callers: { ...scoped, ...ownThing, ...notForAgents },
    example: ({ workspace, key }) => ({ params: { workspace, key } }),
  },
  setKeyDefaults: {
    callers: ofKeyOwner,
    example: ({ workspace, key }) => ({ params: { workspace, key }, body: { cache: 'read-write' } }),
  },
  getLimits: {
    callers: ofKeyOwner,
    example: ({ workspace, key }) => ({ params: { workspace, key } }),
  },
  setLimits: {
    callers: ofKeyOwner,
    example: ({ workspace, key }) => ({
      params: { workspace, key },
      body: { spend_cap: { usd: '5', period: 'day' }, models: ['sim/*'], max_price: null },
    }),
  },
  buyCredit: {
    callers: scoped,
    example: () => ({ body: { sats: 10 } }),
  },
  getCreditPurchase: {
    callers: { ...scoped, ...ownThing },
    example: ({ purchase = 'none' }) => ({ params: { id: purchase } }),
  },
  grantCredit: {
    callers: loginOnly,
    example: () => ({ body: { workspace: 'me', usd: '5', note: 'A present.' } }),
  },
  listCredit: {
    callers: loginOnly,
  },
  verifyLedger: {
    callers: loginOnly,
  },
  getLedgerCheck: {
    callers: loginOnly,
  },
  getKey: {
    callers: identified,
  },
  getUsage: {
    callers: { ...scoped, ...ownThing },
    example: ({ request }) => ({ params: { request_id: request } }),
  },
  listUsage: {
    callers: scoped,
    example: () => ({ query: { group_by: 'model' } }),
  },
  getUsageSeries: {
    callers: scoped,
    example: () => ({ query: { group_by: 'model', tz: 'Europe/Berlin', bucket: 'day' } }),
  },
  getUsageLatency: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { group_by: 'model' } }),
  },
  tokensServed: {
    callers: forEveryone,
  },
  getTrace: {
    callers: { ...scoped, ...ownThing, ...notForAgents },
    example: ({ request }) => ({ params: { request_id: request } }),
  },
  listTraces: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { status: 'completed', limit: '5' } }),
  },
  getProvidersHealth: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { since: '2026-01-01' } }),
  },
  getTraceFacets: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { q: 'status:completed -client:curl since:2h' } }),
  },
  cancelCall: {
    callers: { ...loginOnly, admin: ok, strangerLogin: notFound },
    example: ({ request }) => ({ params: { request_id: request } }),
  },
  getTraceContent: {
    callers: { ...scoped, ...ownThing, ...notForAgents },
    example: ({ request }) => ({ params: { request_id: request } }),
  },
  deleteTraceContent: {
    callers: { ...anyLogin, strangerLogin: notFound },
    example: ({ request }) => ({ params: { request_id: request } }),
  },
  captureWire: {
    callers: { ...loginOnly, admin: ok, strangerLogin: ok },
    example: () => ({ body: { minutes: 10 } }),
  },
  endCaptureWire: { callers: { ...loginOnly, admin: ok, strangerLogin: ok } },
  clearTraceContent: {
    callers: anyLogin,
    example: () => ({ query: { until: '2026-01-01' } }),
  },
  exportTraces: {
    callers: { ...scoped, ...notForAgents },
  },
  searchTraceContent: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { text: 'rain' } }),
  },
  listContentPreviews: {
    callers: { ...scoped, ...notForAgents },
    example: ({ request }) => ({ query: { requests: request } }),
  },
  getCapture: {
    callers: { ...scoped, ...notForAgents },
  },
  getMetrics: {
    callers: forEveryone,
  },
  createThread: {
    callers: scoped,
    example: () => ({ body: { title: 'Rain' } }),
  },
  listThreads: {
    callers: scoped,
    example: () => ({ query: { limit: '5' } }),
  },
  getThread: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  },
  updateThread: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread }, body: { title: 'Snow' } }),
  },
  deleteThread: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  },
  listThreadMessages: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread }, query: { limit: '5' } }),
  },
  followThread: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread }, query: { after: '0' } }),
  },
  stopThread: {
    callers: { ...scoped, ...ownThing },
    example: ({ thread = 'th_1' }) => ({ params: { id: thread } }),
  },
  listChats: {
    callers: { ...site, agent: ok },
    example: () => ({ query: { limit: '5' } }),
  },
  createChat: {
    callers: { ...site, agent: ok },
    example: () => ({ body: { title: 'Rain' } }),
  },
  getChat: {
    callers: { ...ofSite, agent: siteNotFound },
    example: ({ thread = 'th_1' }) => ({ params: { conversationId: thread } }),
  },
  listChatMessages: {
    callers: { ...ofSite, agent: siteNotFound },
    example: ({ thread = 'th_1' }) => ({ params: { conversationId: thread }, query: { limit: '5' } }),
  },
  listRuns: {
    callers: { ...ofSite, agent: siteNotFound },
    example: ({ thread = 'th_1' }) => ({ params: { conversationId: thread }, query: { limit: '5' } }),
  },
  listRunEvents: {
    callers: { ...ofSite, agent: siteNotFound },
    example: ({ thread = 'th_1', run = 'run_1' }) => ({ params: { conversationId: thread, run } }),
  },
  streamEvents: {
    callers: { ...scoped, ...notForAgents },
    example: () => ({ query: { after: '0' } }),
  },
  getCache: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  clearCache: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  listProviderKeys: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  putProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({
      params: { workspace, provider: 'vercel' },
      body: { key: 'vck_example0123456789abcdef' },
    }),
  },
  deleteProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace, provider: 'vercel' } }),
  },
  checkProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace, provider: 'openai' } }),
  },
  putNamedProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({
      params: { workspace, provider: 'vercel', name: 'second' },
      body: { key: 'vck_example0123456789abcdef' },
    }),
  },
  deleteNamedProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace, provider: 'vercel', name: 'second' } }),
  },
  checkNamedProviderKey: {
    callers: { ...scoped, ...ownWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace, provider: 'openai', name: 'second' } }),
  },
  listBudgets: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  getBudget: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({ params: { workspace, id: 'team' } }),
  },
  putBudget: {
    callers: { ...loginOnly, admin: ok },
    example: ({ workspace }) => ({
      params: { workspace, id: 'search' },
      body: {
        usd: '5',
        period: 'week',
        time_zone: 'Europe/Berlin',
        day_starts: '06:00',
        week_starts: 'sunday',
        scope: 'tag',
        value: 'team=search',
        thresholds: [80],
      },
    }),
  },
  deleteBudget: {
    callers: { ...loginOnly, admin: ok },
    example: ({ workspace }) => ({ params: { workspace, id: 'team' } }),
  },
  listAlerts: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  getAlert: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({ params: { workspace, id: 'slow' } }),
  },
  putAlert: {
    callers: { ...loginOnly, admin: ok },
    example: ({ workspace }) => ({
      params: { workspace, id: 'dear' },
      body: {
        kind: 'spend',
        window_minutes: 60,
        threshold: '5',
        webhook_url: 'https://hooks.example.com/in',
      },
    }),
  },
  deleteAlert: {
    callers: { ...loginOnly, admin: ok },
    example: ({ workspace }) => ({ params: { workspace, id: 'slow' } }),
  },
  testAlert: {
    callers: { ...loginOnly, admin: ok },
    example: ({ workspace }) => ({ params: { workspace, id: 'slow' } }),
  },
  listFirings: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({ params: { workspace }, query: { open: 'true' } }),
  },
  previewAlert: {
    callers: { ...scoped, strangerKey: notFound, strangerLogin: notFound, ...notForAgents },
    example: ({ workspace }) => ({
      params: { workspace },
      body: { kind: 'error_share', window_minutes: 60, threshold: '5', model: 'sim/echo' },
    }),
  },
  getNode: { callers: forEveryone },
  listPeers: {
    callers: ofPeers,
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  putPeer: {
    callers: ofPeers,
    example: ({ workspace }) => ({
      params: { workspace, peer: 'cellar' },
      // It is not called.
      body: { url: 'https://peer.example', key: 'gwk_example', enabled: false },
    }),
  },
  checkPeer: {
    callers: ofPeers,
    example: ({ workspace }) => ({ params: { workspace, peer: 'attic' } }),
  },
  deletePeer: {
    callers: ofPeers,
    example: ({ workspace }) => ({ params: { workspace, peer: 'attic' } }),
  },
  listPeerAttempts: {
    callers: ofPeers,
    example: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  },
  getVault: {
    callers: loginOnly,
  },
  unlockVault: {
    callers: loginOnly,
    example: () => ({ body: {} }),
  },
  rotateVault: {
    callers: loginOnly,
    example: () => ({ body: {} }),
  },
  exportVault: {
    callers: loginOnly,
  },
  createSession: {
    callers: anonymousOnly,
    example: ({ code = 'AAAAA-AAAAA' }) => ({ body: { code, name: 'laptop' } }),
  },
  previewSession: {
    callers: anonymousOnly,
    example: ({ code = 'AAAAA-AAAAA' }) => ({ body: { code } }),
  },
  createLoginLink: {
    callers: anyLogin,
    example: () => ({ body: {} }),
  },
  getSession: {
    callers: anyLogin,
  },
  listSessions: {
    callers: anyLogin,
    example: () => ({ query: { limit: '5' } }),
  },
  signOut: {
    callers: anyLogin,
  },
  deleteSession: {
    callers: { ...anyLogin, strangerLogin: notFound },
    example: ({ session = 'key_1' }) => ({ params: { session } }),
  },
  addUser: {
    callers: loginOnly,
    example: ({ handle = 'somebody' }) => ({ body: { handle, name: 'Somebody' } }),
  },
  listUsers: {
    callers: loginOnly,
    example: () => ({ query: { limit: '5' } }),
  },
  createLoginCode: {
    callers: loginOnly,
    example: ({ user = 'usr_1' }) => ({ params: { user } }),
  },
  createWorkspace: {
    callers: anyLogin,
    example: () => ({ body: { name: 'Laboratory' } }),
  },
  listWorkspaces: {
    callers: anyLogin,
    example: () => ({ query: { limit: '5' } }),
  },
  getWorkspace: {
    callers: ofWorkspace,
    example: ({ workspace }) => ({ params: { workspace } }),
  },
  updateWorkspace: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace }, body: { name: 'Personal' } }),
  },
  listMembers: {
    callers: ofWorkspace,
    example: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  },
  updateMember: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace, user = 'usr_1' }) => ({
      params: { workspace, user },
      body: { role: 'member' },
    }),
  },
  removeMember: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace, user = 'usr_1' }) => ({ params: { workspace, user } }),
  },
  createInvitation: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace }, body: { role: 'member', note: 'for Ann' } }),
  },
  listInvitations: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace }) => ({ params: { workspace }, query: { limit: '5' } }),
  },
  revokeInvitation: {
    callers: { ...ofWorkspace, ...ofAdmins },
    example: ({ workspace, invitation = 'invite_1' }) => ({ params: { workspace, invitation } }),
  },
  acceptInvitation: {
    callers: anyLogin,
    example: ({ code = 'AAAAA-AAAAA' }) => ({ body: { code } }),
  },
  listTokens: {
    callers: ownTokens,
  },
  createToken: {
    callers: ownTokens,
    example: () => ({ body: { name: 'laptop', abilities: ['whispers:read', 'whispers:write'] } }),
  },
  revokeCurrentToken: {
    callers: {
      ...ownTokens,
      login: siteNotFound,
      strangerLogin: siteNotFound,
      tokenWithout: ok,
    },
  },
  revokeToken: {
    callers: { ...ownTokens, strangerLogin: siteNotFound },
    example: ({ token = 'tok_1' }) => ({ params: { tokenId: token } }),
  },
  revokeTokens: {
    callers: ownTokens,
  },
  getProfile: {
    callers: site,
  },
  updateProfile: {
    callers: site,
    example: () => ({ body: { name: 'Somebody Else' } }),
  },
  deleteProfile: {
    // Of an unused address.
    callers: {
      ...site,
      keyWithScope: siteInvalid,
      login: siteInvalid,
      strangerKey: siteInvalid,
      strangerLogin: siteInvalid,
      token: siteInvalid,
    },
    example: () => ({ body: { email: 'nobody@example.com' } }),
  },
  getMe: {
    callers: site,
    example: () => ({ query: { chat_limit: '5' } }),
  },
  callMcp: {
    callers: { ...scoped, token: ok, tokenWithout: forbidden },
    example: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'ping' } }),
  },
  listWhispers: {
    callers: site,
    example: () => ({ query: { limit: '5' } }),
  },
  createWallet: {
    callers: { ...site, agent: ok },
    example: () => ({ body: {} }),
  },
  getWalletBackend: {
    callers: loginOnly,
  },
  putWalletSecret: {
    callers: loginOnly,
    example: () => ({ params: { backend: 'phoenixd' }, body: { secret: 'password0123456789' } }),
  },
  checkWalletBackend: {
    callers: loginOnly,
    // Nothing listens there.
    example: () => ({
      body: { backend: 'phoenixd', secret: 'password0123456789', url: 'http://127.0.0.1:1' },
    }),
  },
  trustNode: {
    // No node is connected.
    callers: { ...loginOnly, login: conflict },
    example: () => ({ body: { node_id: `02${'ab'.repeat(32)}` } }),
  },
  reconcileWallets: {
    callers: loginOnly,
    // No backup was restored.
    example: () => ({ body: {} }),
  },
  deleteWalletSecret: {
    callers: loginOnly,
    example: () => ({ params: { backend: 'phoenixd' } }),
  },
  fundWallet: {
    // No node is connected.
    callers: { ...loginOnly, login: conflict },
    example: () => ({ body: { amount_sats: 10 } }),
  },
  resolvePayment: {
    // Payments within the host are never pending.
    callers: { ...loginOnly, login: conflict },
    example: ({ payment = 'pay_1' }) => ({ params: { payment }, body: { outcome: 'failed' } }),
  },
  // The strangers have the wallets that the example of createWallet made.
  getBalance: {
    callers: { ...site, agent: ok },
  },
  showPhrase: {
    callers: {
      ...site,
      agent: siteSignedOut,
      keyWithoutScope: siteSignedOut,
      keyWithScope: siteSignedOut,
      strangerKey: siteSignedOut,
      token: siteSignedOut,
      tokenWithout: siteSignedOut,
    },
  },
  useFaucet: {
    callers: {
      ...site,
      admin: siteForbidden,
      member: siteForbidden,
      strangerLogin: siteForbidden,
      agent: siteSignedOut,
      keyWithoutScope: siteSignedOut,
      keyWithScope: siteSignedOut,
      strangerKey: siteSignedOut,
      token: siteSignedOut,
      tokenWithout: siteSignedOut,
    },
    example: () => ({ body: { amountSats: 10 } }),
  },
  payInvoice: {
    // The strangers have no wallet yet.
    callers: { ...site, strangerKey: siteInvalid, strangerLogin: siteInvalid, agent: siteInvalid },
    example: ({ paymentRequest = 'lnbcrt1somethingelse' }) => ({ body: { invoice: paymentRequest } }),
  },
  createInvoice: {
    callers: { ...site, strangerKey: siteInvalid, strangerLogin: siteInvalid, agent: siteInvalid },
    example: () => ({ body: { amountSats: 10, description: 'Tea' } }),
  },
  decodeInvoice: {
    callers: { ...site, agent: ok },
    example: ({ paymentRequest = 'lnbcrt1somethingelse' }) => ({ body: { invoice: paymentRequest } }),
  },
  requestInvoice: {
    callers: { ...site, agent: ok },
    example: ({ paymentRequest = 'lnbcrt1somethingelse' }) => ({ body: { destination: paymentRequest } }),
  },
  listPayments: {
    callers: { ...site, agent: ok },
    example: () => ({ query: { limit: '5' } }),
  },
  listInvoices: {
    callers: { ...site, agent: ok },
    example: () => ({ query: { limit: '5' } }),
  },
  getInvoice: {
    callers: { ...site, ...ofOthers, agent: siteNotFound },
    example: ({ invoice = 'inv_1' }) => ({ params: { invoiceId: invoice } }),
  },
  getPayment: {
    callers: { ...site, ...ofOthers, agent: siteNotFound },
    example: ({ payment = 'pay_1' }) => ({ params: { paymentId: payment } }),
  },
  listPaywalls: {
    callers: site,
    example: () => ({ query: { limit: '5' } }),
  },
  createPaywall: {
    callers: { ...site, strangerKey: siteInvalid, strangerLogin: siteInvalid },
    example: ({ paywallPath = '/somewhere' }) => ({
      body: { priceSats: 10, match: { pathPrefix: paywallPath }, upstream: { url: 'https://example.com' } },
    }),
  },
  exportPaywalls: {
    callers: site,
    example: () => ({ query: { format: 'aperture' } }),
  },
  getPaywall: {
    callers: { ...site, ...ofOthers },
    example: ({ paywall = 'pw_1' }) => ({ params: { paywallId: paywall } }),
  },
  updatePaywall: {
    callers: { ...site, ...ofOthers },
    example: ({ paywall = 'pw_1' }) => ({ params: { paywallId: paywall }, body: { priceSats: 20 } }),
  },
  deletePaywall: {
    callers: { ...site, ...ofOthers },
    example: ({ paywall = 'pw_1' }) => ({ params: { paywallId: paywall } }),
  },
  sendWhisper: {
    callers: site,
    example: ({ peer = 'somebody' }) => ({ body: { body: 'Hello.', recipientHandle: peer } }),
  },
  listWhisperThreads: {
    callers: site,
    example: () => ({ query: { limit: '5' } }),
  },
  streamWhispers: {
    callers: site,
  },
  getWhisper: {
    callers: { ...site, ...ofOthers },
    example: ({ whisper = '1' }) => ({ params: { id: whisper } }),
  },
  readWhisper: {
    callers: { ...site, ...ofOthers },
    example: ({ whisper = '1' }) => ({ params: { id: whisper } }),
  },
  readAllWhispers: {
    callers: site,
  },
  listShouts: {
    callers: siteForEveryone,
    example: () => ({ query: { limit: '5' } }),
  },
  postShout: {
    callers: site,
    example: () => ({ body: { body: 'Hear me.', zone: 'dev' } }),
  },
  listDirectory: {
    callers: siteForEveryone,
    example: () => ({ query: { limit: '5' } }),
  },
  listZones: {
    callers: siteForEveryone,
    example: () => ({ query: { limit: '5' } }),
  },
  streamShouts: {
    callers: siteForEveryone,
  },
  getShout: {
    callers: siteForEveryone,
    example: ({ shout = '1' }) => ({ params: { id: shout } }),
  },
  deleteShout: {
    callers: { ...site, strangerKey: siteForbidden, strangerLogin: siteForbidden },
    example: ({ shout = '1' }) => ({ params: { id: shout } }),
  },
  listAutopilots: {
    callers: site,
    example: () => ({ query: { limit: '5' } }),
  },
  createAutopilot: {
    callers: site,
    example: () => ({ body: { displayName: 'Night Watch', policy: { model: 'sim/echo' } } }),
  },
  getAutopilot: {
    callers: { ...site, ...ofOthers },
    example: ({ autopilot = 'ap_1' }) => ({ params: { autopilot } }),
  },
  updateAutopilot: {
    callers: { ...site, ...ofOthers },
    example: ({ autopilot = 'ap_1' }) => ({ params: { autopilot }, body: { status: 'disabled' } }),
  },
  archiveAutopilot: {
    callers: { ...site, ...ofOthers },
    example: ({ autopilot = 'ap_1' }) => ({ params: { autopilot } }),
  },
  // A key also needs scopes for model calls.
  runAutopilot: {
    callers: { ...site, ...ofOthers, keyWithScope: siteForbidden },
    example: ({ autopilot = 'ap_1' }) => ({ params: { autopilot }, body: { input: 'Hello.' } }),
  },
  runChat: {
    callers: {
      ...site,
      ...ofOthers,
      keyWithScope: siteForbidden,
      // The chat is in their own workspace, and they ask for it in another one.
      admin: siteNotFound,
      member: siteNotFound,
    },
    example: ({ thread = 'th_1' }) => ({ params: { conversationId: thread }, body: { input: 'Hello.' } }),
  },
  listAutopilotRuns: {
    callers: { ...site, ...ofOthers },
    example: ({ autopilot = 'ap_1' }) => ({ params: { autopilot }, query: { limit: '5' } }),
  },
  getAutopilotRun: {
    // A run is visible in the workspace of its chat, which is their own.
    callers: { ...site, ...ofOthers, admin: siteNotFound, member: siteNotFound },
    example: ({ autopilot = 'ap_1', run = 'run_1' }) => ({ params: { autopilot, run } }),
  },
  cancelAutopilotRun: {
    // A run is visible in the workspace of its chat, which is their own.
    callers: { ...site, ...ofOthers, admin: siteNotFound, member: siteNotFound },
    example: ({ autopilot = 'ap_1', run = 'run_1' }) => ({ params: { autopilot, run } }),
  },
  health: {
    callers: forEveryone,
  },
  ready: {
    callers: forEveryone,
  },
  openApi: {
    callers: forEveryone,
  },
  getReference: {
    callers: forEveryone,
  },
  getHome: {
    callers: forEveryone,
  },
  getLoginPage: {
    callers: forEveryone,
  },
  getAsset: {
    // Only the built program has files.
    callers: nothingThere,
    example: () => ({ params: { name: 'none.js' } }),
  },
  getServiceStatus: { callers: forEveryone },
  getStatus: {
    callers: loginOnly,
  },
  createBackup: {
    callers: loginOnly,
  },
  getConfiguration: {
    callers: loginOnly,
  },
  reloadConfiguration: {
    callers: loginOnly,
  },
  previewConfiguration: {
    callers: loginOnly,
    example: () => ({ body: { changes: [{ setting: 'cache.default', value: 'off' }] } }),
  },
  changeConfiguration: {
    // What was not previewed is not written.
    callers: { ...loginOnly, login: conflict },
    example: () => ({ body: { changes: [], version: 'none' } }),
  },
  listDaemons: {
    callers: loginOnly,
  },
  removeDaemon: {
    // SQLite has only the one that runs.
    callers: { ...loginOnly, login: notFound },
    example: () => ({ params: { daemon: '0' } }),
  },
  stopDaemon: {
    callers: loginOnly,
  },
};

function sampleOf({ id }: Pick<Endpoint, 'id'>): Sample {
  const sample = samples[id];
  if (sample === undefined) throw new Error(`example-calls.ts has no entry for ${id}`);
  return sample;
}

export const sampledIds = Object.keys(samples);

/** An endpoint without an entry fails, so that who may call it is decided. */
export const callersOf = (endpoint: Pick<Endpoint, 'id'>): Row => sampleOf(endpoint).callers;

export const exampleOf = (endpoint: Endpoint, ids: ExampleIds): ExampleCall =>
  sampleOf(endpoint).example?.(ids) ?? {};

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
