import { address } from '../shared/client.ts';
import type * as backups from '../shared/contract/backups.ts';
import type * as cache from '../shared/contract/cache.ts';
import type * as chats from '../shared/contract/chats.ts';
import type * as compaction from '../shared/contract/compaction.ts';
import type * as configuration from '../shared/contract/configuration.ts';
import type * as credit from '../shared/contract/credit.ts';
import type * as daemon from '../shared/contract/daemon.ts';
import type * as events from '../shared/contract/events.ts';
import type * as keyDefaults from '../shared/contract/key-defaults.ts';
import type * as keyLimits from '../shared/contract/key-limits.ts';
import type * as keys from '../shared/contract/keys.ts';
import type * as models from '../shared/contract/models.ts';
import type * as people from '../shared/contract/people.ts';
import type * as providerKeys from '../shared/contract/provider-keys.ts';
import type * as rates from '../shared/contract/rates.ts';
import type * as responses from '../shared/contract/responses.ts';
import type * as storedResponses from '../shared/contract/stored-responses.ts';
import type * as threads from '../shared/contract/threads.ts';
import type * as traces from '../shared/contract/traces.ts';
import type * as usage from '../shared/contract/usage.ts';
import type * as vault from '../shared/contract/vault.ts';
import type * as workspaces from '../shared/contract/workspaces.ts';

/**
 * Where the commands call. Loading the contracts themselves loads TypeBox, which takes longer than Node's own start; here
 * they are imported as types only, and an address that differs from its contract does not compile.
 */
export const getStatus = address<typeof daemon.getStatus>('GET', '/v1/admin/status');
export const stopDaemon = address<typeof daemon.stopDaemon>('POST', '/v1/admin/stop');
export const createBackup = address<typeof backups.createBackup>('POST', '/v1/admin/backups');
export const getConfiguration = address<typeof configuration.getConfiguration>(
  'GET',
  '/v1/admin/configuration',
);
export const reloadConfiguration = address<typeof configuration.reloadConfiguration>(
  'POST',
  '/v1/admin/reload',
);
export const setKeyDefaults = address<typeof keyDefaults.setKeyDefaults>(
  'PUT',
  '/v1/workspaces/{workspace}/keys/{key}/defaults',
);
export const openApi = address<typeof daemon.openApi>('GET', '/v1/openapi.json');

export const grantCredit = address<typeof credit.grantCredit>('POST', '/v1/admin/credit');
export const listCredit = address<typeof credit.listCredit>('GET', '/v1/admin/credit');
export const verifyLedger = address<typeof credit.verifyLedger>('POST', '/v1/admin/ledger/verify');

export const listKeys = address<typeof keys.listKeys>('GET', '/v1/workspaces/{workspace}/keys');
export const issueKey = address<typeof keys.issueKey>('POST', '/v1/workspaces/{workspace}/keys');
export const revokeKey = address<typeof keys.revokeKey>('DELETE', '/v1/workspaces/{workspace}/keys/{key}');
export const showKey = address<typeof keys.showKey>('GET', '/v1/workspaces/{workspace}/keys/{key}');
export const getLimits = address<typeof keyLimits.getLimits>(
  'GET',
  '/v1/workspaces/{workspace}/keys/{key}/limits',
);
export const setLimits = address<typeof keyLimits.setLimits>(
  'PUT',
  '/v1/workspaces/{workspace}/keys/{key}/limits',
);
export const getKey = address<typeof keys.getKey>('GET', '/v1/key');

export const createResponse = address<typeof responses.createResponse>('POST', '/v1/responses');
export const compactResponse = address<typeof compaction.compactResponse>('POST', '/v1/responses/compact');
export const getResponse = address<typeof storedResponses.getResponse>('GET', '/v1/responses/{id}');
export const deleteResponse = address<typeof storedResponses.deleteResponse>('DELETE', '/v1/responses/{id}');
export const listResponses = address<typeof storedResponses.listResponses>('GET', '/v1/stored-responses');
export const cancelResponse = address<typeof storedResponses.cancelResponse>(
  'POST',
  '/v1/responses/{id}/cancel',
);

export const listModels = address<typeof models.listModels>('GET', '/v1/models');
export const getModel = address<typeof models.getModel>('GET', '/v1/models/{model...}');
export const refreshModels = address<typeof models.refreshModels>('POST', '/v1/admin/models/refresh');
export const listRates = address<typeof rates.listRates>('GET', '/v1/rates');

export const getCache = address<typeof cache.getCache>('GET', '/v1/workspaces/{workspace}/cache');
export const clearCache = address<typeof cache.clearCache>('DELETE', '/v1/workspaces/{workspace}/cache');

export const getUsage = address<typeof usage.getUsage>('GET', '/v1/usage/{request_id}');
export const listUsage = address<typeof usage.listUsage>('GET', '/v1/usage');

export const createSession = address<typeof people.createSession>('POST', '/v1/sessions');
export const getSession = address<typeof people.getSession>('GET', '/v1/sessions/current');
export const listSessions = address<typeof people.listSessions>('GET', '/v1/sessions');
export const signOut = address<typeof people.signOut>('DELETE', '/v1/sessions/current');
export const deleteSession = address<typeof people.deleteSession>('DELETE', '/v1/sessions/{session}');
export const addUser = address<typeof people.addUser>('POST', '/v1/admin/users');
export const listUsers = address<typeof people.listUsers>('GET', '/v1/admin/users');
export const createLoginCode = address<typeof people.createLoginCode>(
  'POST',
  '/v1/admin/users/{user}/login-codes',
);

export const createWorkspace = address<typeof workspaces.createWorkspace>('POST', '/v1/workspaces');
export const listWorkspaces = address<typeof workspaces.listWorkspaces>('GET', '/v1/workspaces');
export const getWorkspace = address<typeof workspaces.getWorkspace>('GET', '/v1/workspaces/{workspace}');
export const updateWorkspace = address<typeof workspaces.updateWorkspace>(
  'PATCH',
  '/v1/workspaces/{workspace}',
);
export const listMembers = address<typeof workspaces.listMembers>(
  'GET',
  '/v1/workspaces/{workspace}/members',
);
export const updateMember = address<typeof workspaces.updateMember>(
  'PATCH',
  '/v1/workspaces/{workspace}/members/{user}',
);
export const removeMember = address<typeof workspaces.removeMember>(
  'DELETE',
  '/v1/workspaces/{workspace}/members/{user}',
);
export const createInvitation = address<typeof workspaces.createInvitation>(
  'POST',
  '/v1/workspaces/{workspace}/invitations',
);
export const listInvitations = address<typeof workspaces.listInvitations>(
  'GET',
  '/v1/workspaces/{workspace}/invitations',
);
export const revokeInvitation = address<typeof workspaces.revokeInvitation>(
  'DELETE',
  '/v1/workspaces/{workspace}/invitations/{invitation}',
);
export const acceptInvitation = address<typeof workspaces.acceptInvitation>('POST', '/v1/invitations/accept');

export const createThread = address<typeof threads.createThread>('POST', '/v1/threads');
export const listThreads = address<typeof threads.listThreads>('GET', '/v1/threads');
export const getThread = address<typeof threads.getThread>('GET', '/v1/threads/{id}');
export const updateThread = address<typeof threads.updateThread>('PATCH', '/v1/threads/{id}');
export const deleteThread = address<typeof threads.deleteThread>('DELETE', '/v1/threads/{id}');
export const listThreadMessages = address<typeof threads.listThreadMessages>(
  'GET',
  '/v1/threads/{id}/messages',
);
export const followThread = address<typeof threads.followThread>('GET', '/v1/threads/{id}/events');
export const stopThread = address<typeof threads.stopThread>('POST', '/v1/threads/{id}/stop');
export const listChats = address<typeof chats.listChats>('GET', '/api/chats');
export const listRuns = address<typeof chats.listRuns>('GET', '/api/chats/{conversationId}/runs');

export const getTrace = address<typeof traces.getTrace>('GET', '/v1/traces/{request_id}');
export const listTraces = address<typeof traces.listTraces>('GET', '/v1/traces');

export const streamEvents = address<typeof events.streamEvents>('GET', '/v1/events');

export const listProviderKeys = address<typeof providerKeys.listProviderKeys>(
  'GET',
  '/v1/workspaces/{workspace}/provider-keys',
);
export const putProviderKey = address<typeof providerKeys.putProviderKey>(
  'PUT',
  '/v1/workspaces/{workspace}/provider-keys/{provider}',
);
export const deleteProviderKey = address<typeof providerKeys.deleteProviderKey>(
  'DELETE',
  '/v1/workspaces/{workspace}/provider-keys/{provider}',
);
export const checkProviderKey = address<typeof providerKeys.checkProviderKey>(
  'POST',
  '/v1/workspaces/{workspace}/provider-keys/{provider}/check',
);

export const getVault = address<typeof vault.getVault>('GET', '/v1/admin/vault');
export const unlockVault = address<typeof vault.unlockVault>('POST', '/v1/admin/vault/unlock');
export const rotateVault = address<typeof vault.rotateVault>('POST', '/v1/admin/vault/rotate');
export const exportVault = address<typeof vault.exportVault>('POST', '/v1/admin/vault/export');
