import type { ScopeName } from '../../../shared/contract/endpoint.ts';

/** What each scope allows. */
export const scopeHints: Readonly<Record<ScopeName, string>> = {
  responses: 'Model calls',
  'models:read': 'List models and prices',
  'usage:read': 'Its own usage and cost',
  traces: 'Calls: reading and ending them',
  'traces:read': 'Read calls',
  'content:read': 'What calls asked and were answered',
  threads: 'Threads and stored responses',
  'threads:read': 'Read threads and stored responses',
  runs: 'Runs of autopilots',
  'runs:read': 'Read runs of autopilots',
  plugins: 'Plug-ins',
  keys: 'Issue and revoke keys',
  billing: 'Credit and payments',
  workspace: 'Members and budgets of the workspace',
};

export const usualScopes: readonly ScopeName[] = ['responses', 'models:read', 'usage:read'];
