import type { Address } from '../../shared/client.ts';
import type * as alerts from '../../shared/contract/alerts.ts';
import type * as budgets from '../../shared/contract/budgets.ts';
import type * as calibrations from '../../shared/contract/calibrations.ts';
import type * as configuration from '../../shared/contract/configuration.ts';
import type * as content from '../../shared/contract/content.ts';
import type * as decisions from '../../shared/contract/decisions.ts';
import type * as events from '../../shared/contract/events.ts';
import type * as keyLimits from '../../shared/contract/key-limits.ts';
import type * as keys from '../../shared/contract/keys.ts';
import type * as models from '../../shared/contract/models.ts';
import type * as payments from '../../shared/contract/payments.ts';
import type * as paywalls from '../../shared/contract/paywalls.ts';
import type * as people from '../../shared/contract/people.ts';
import type * as health from '../../shared/contract/provider-health.ts';
import type * as providerKeys from '../../shared/contract/provider-keys.ts';
import type * as storedResponses from '../../shared/contract/stored-responses.ts';
import type * as threads from '../../shared/contract/threads.ts';
import type * as traces from '../../shared/contract/traces.ts';
import type * as exports from '../../shared/contract/traces-export.ts';
import type * as usage from '../../shared/contract/usage.ts';
import type * as wallet from '../../shared/contract/wallet.ts';
import type * as workspaces from '../../shared/contract/workspaces.ts';

/** The endpoints that the page calls. One that differs from its contract does not compile. */

export const getKey: Address<typeof keys.getKey> = { method: 'GET', path: '/v1/key' };
export const getSession: Address<typeof people.getSession> = { method: 'GET', path: '/v1/sessions/current' };
export const createSession: Address<typeof people.createSession> = { method: 'POST', path: '/v1/sessions' };
export const previewSession: Address<typeof people.previewSession> = {
  method: 'POST',
  path: '/v1/sessions/preview',
};
export const listSessions: Address<typeof people.listSessions> = { method: 'GET', path: '/v1/sessions' };
export const signOutSession: Address<typeof people.signOut> = {
  method: 'DELETE',
  path: '/v1/sessions/current',
};
export const getTrace: Address<typeof traces.getTrace> = { method: 'GET', path: '/v1/traces/{request_id}' };
export const cancelCall: Address<typeof traces.cancelCall> = {
  method: 'POST',
  path: '/v1/traces/{request_id}/cancel',
};
export const listTraces: Address<typeof traces.listTraces> = { method: 'GET', path: '/v1/traces' };
export const getTraceContent: Address<typeof content.getTraceContent> = {
  method: 'GET',
  path: '/v1/traces/{request_id}/content',
};
export const getTraceFacets: Address<typeof traces.getTraceFacets> = {
  method: 'GET',
  path: '/v1/traces/facets',
};
export const exportTraces: Address<typeof exports.exportTraces> = {
  method: 'GET',
  path: '/v1/traces/export',
};
export const streamEvents: Address<typeof events.streamEvents> = { method: 'GET', path: '/v1/events' };
export const listKeys: Address<typeof keys.listKeys> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys',
};
export const listUsage: Address<typeof usage.listUsage> = { method: 'GET', path: '/v1/usage' };
export const usageSeries: Address<typeof usage.getUsageSeries> = { method: 'GET', path: '/v1/usage/series' };
export const usageLatency: Address<typeof usage.getUsageLatency> = {
  method: 'GET',
  path: '/v1/usage/latency',
};
export const issueKey: Address<typeof keys.issueKey> = {
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys',
};
export const showKey: Address<typeof keys.showKey> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys/{key}',
};
export const revokeKey: Address<typeof keys.revokeKey> = {
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/keys/{key}',
};
export const setLimits: Address<typeof keyLimits.setLimits> = {
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/keys/{key}/limits',
};
export const listFirings: Address<typeof alerts.listFirings> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/alerts/fired',
};
export const listBudgets: Address<typeof budgets.listBudgets> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/budgets',
};
export const putBudget: Address<typeof budgets.putBudget> = {
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/budgets/{id}',
};
export const deleteBudget: Address<typeof budgets.deleteBudget> = {
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/budgets/{id}',
};
export const listModels: Address<typeof models.listModels> = { method: 'GET', path: '/v1/models' };
export const getProvidersHealth: Address<typeof health.getProvidersHealth> = {
  method: 'GET',
  path: '/v1/providers/health',
};
export const listProviderKeys: Address<typeof providerKeys.listProviderKeys> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/provider-keys',
};
export const putProviderKey: Address<typeof providerKeys.putProviderKey> = {
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
};
export const checkProviderKey: Address<typeof providerKeys.checkProviderKey> = {
  method: 'POST',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/check',
};
export const deleteProviderKey: Address<typeof providerKeys.deleteProviderKey> = {
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
};
export const getCapture: Address<typeof content.getCapture> = { method: 'GET', path: '/v1/capture' };
export const clearTraceContent: Address<typeof content.clearTraceContent> = {
  method: 'DELETE',
  path: '/v1/traces/content',
};
export const listWorkspaces: Address<typeof workspaces.listWorkspaces> = {
  method: 'GET',
  path: '/v1/workspaces',
};
export const getWorkspace: Address<typeof workspaces.getWorkspace> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}',
};
export const updateWorkspace: Address<typeof workspaces.updateWorkspace> = {
  method: 'PATCH',
  path: '/v1/workspaces/{workspace}',
};
export const deleteSession: Address<typeof people.deleteSession> = {
  method: 'DELETE',
  path: '/v1/sessions/{session}',
};
export const getConfiguration: Address<typeof configuration.getConfiguration> = {
  method: 'GET',
  path: '/v1/admin/configuration',
};
export const listAlerts: Address<typeof alerts.listAlerts> = {
  method: 'GET',
  path: '/v1/workspaces/{workspace}/alerts',
};
export const putAlert: Address<typeof alerts.putAlert> = {
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/alerts/{id}',
};
export const deleteAlert: Address<typeof alerts.deleteAlert> = {
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/alerts/{id}',
};
export const testAlert: Address<typeof alerts.testAlert> = {
  method: 'POST',
  path: '/v1/workspaces/{workspace}/alerts/{id}/test',
};
export const previewAlert: Address<typeof alerts.previewAlert> = {
  method: 'POST',
  path: '/v1/workspaces/{workspace}/alert-previews',
};
export const listThreads: Address<typeof threads.listThreads> = {
  method: 'GET',
  path: '/v1/threads',
};
export const getThread: Address<typeof threads.getThread> = {
  method: 'GET',
  path: '/v1/threads/{id}',
};
export const updateThread: Address<typeof threads.updateThread> = {
  method: 'PATCH',
  path: '/v1/threads/{id}',
};
export const deleteThread: Address<typeof threads.deleteThread> = {
  method: 'DELETE',
  path: '/v1/threads/{id}',
};
export const listThreadMessages: Address<typeof threads.listThreadMessages> = {
  method: 'GET',
  path: '/v1/threads/{id}/messages',
};
export const listResponses: Address<typeof storedResponses.listResponses> = {
  method: 'GET',
  path: '/v1/stored-responses',
};
export const getResponse: Address<typeof storedResponses.getResponse> = {
  method: 'GET',
  path: '/v1/responses/{id}',
};
export const deleteResponse: Address<typeof storedResponses.deleteResponse> = {
  method: 'DELETE',
  path: '/v1/responses/{id}',
};
export const createDecision: Address<typeof decisions.createDecision> = {
  method: 'POST',
  path: '/v1/decisions',
};
export const listCalibrations: Address<typeof calibrations.listCalibrations> = {
  method: 'GET',
  path: '/v1/admin/decisions/calibrations',
};
export const deleteCalibration: Address<typeof calibrations.deleteCalibration> = {
  method: 'DELETE',
  path: '/v1/admin/decisions/calibrations',
};
export const getBalance: Address<typeof wallet.getBalance> = {
  method: 'GET',
  path: '/api/agents/me/balance',
};
export const createWallet: Address<typeof wallet.createWallet> = {
  method: 'POST',
  path: '/api/agents/me/wallet',
};
export const addPlayMoney: Address<typeof wallet.useFaucet> = {
  method: 'POST',
  path: '/api/agents/me/wallet/faucet',
};
export const createInvoice: Address<typeof payments.createInvoice> = {
  method: 'POST',
  path: '/api/payments/invoice',
};
export const getInvoice: Address<typeof payments.getInvoice> = {
  method: 'GET',
  path: '/api/payments/invoices/{invoiceId}',
};
export const listInvoices: Address<typeof payments.listInvoices> = {
  method: 'GET',
  path: '/api/payments/invoices',
};
export const listPayments: Address<typeof payments.listPayments> = {
  method: 'GET',
  path: '/api/payments',
};
export const listPaywalls: Address<typeof paywalls.listPaywalls> = {
  method: 'GET',
  path: '/api/l402/paywalls',
};
export const updatePaywall: Address<typeof paywalls.updatePaywall> = {
  method: 'PATCH',
  path: '/api/l402/paywalls/{paywallId}',
};
