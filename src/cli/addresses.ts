import { address } from '../shared/client.ts';
import type * as daemon from '../shared/contract/daemon.ts';
import type * as events from '../shared/contract/events.ts';
import type * as keys from '../shared/contract/keys.ts';
import type * as models from '../shared/contract/models.ts';
import type * as providerKeys from '../shared/contract/provider-keys.ts';
import type * as rates from '../shared/contract/rates.ts';
import type * as responses from '../shared/contract/responses.ts';
import type * as storedResponses from '../shared/contract/stored-responses.ts';
import type * as usage from '../shared/contract/usage.ts';
import type * as vault from '../shared/contract/vault.ts';

/**
 * Where the commands call. Loading the contracts themselves loads TypeBox, which takes longer than Node's own start; here
 * they are imported as types only, and an address that differs from its contract does not compile.
 */
export const getStatus = address<typeof daemon.getStatus>('GET', '/v1/admin/status');
export const stopDaemon = address<typeof daemon.stopDaemon>('POST', '/v1/admin/stop');
export const openApi = address<typeof daemon.openApi>('GET', '/v1/openapi.json');

export const listKeys = address<typeof keys.listKeys>('GET', '/v1/workspaces/{workspace}/keys');
export const issueKey = address<typeof keys.issueKey>('POST', '/v1/workspaces/{workspace}/keys');
export const revokeKey = address<typeof keys.revokeKey>('DELETE', '/v1/workspaces/{workspace}/keys/{key}');
export const getKey = address<typeof keys.getKey>('GET', '/v1/key');

export const createResponse = address<typeof responses.createResponse>('POST', '/v1/responses');
export const getResponse = address<typeof storedResponses.getResponse>('GET', '/v1/responses/{id}');
export const deleteResponse = address<typeof storedResponses.deleteResponse>('DELETE', '/v1/responses/{id}');
export const cancelResponse = address<typeof storedResponses.cancelResponse>(
  'POST',
  '/v1/responses/{id}/cancel',
);

export const listModels = address<typeof models.listModels>('GET', '/v1/models');
export const getModel = address<typeof models.getModel>('GET', '/v1/models/{model...}');
export const refreshModels = address<typeof models.refreshModels>('POST', '/v1/admin/models/refresh');
export const listRates = address<typeof rates.listRates>('GET', '/v1/rates');

export const getUsage = address<typeof usage.getUsage>('GET', '/v1/usage/{request_id}');
export const listUsage = address<typeof usage.listUsage>('GET', '/v1/usage');

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
