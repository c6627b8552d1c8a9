/** The parts of the API description that belong to no single endpoint. */

export const apiDescription = [
  'Gateway serves model calls in three wire formats from one address, routes each to a provider, and reports what it cost.',
  '',
  '- **Credentials** are sent as `Authorization: Bearer …`: an API key (`gwk_…`), a login key (`gwl_…`) for actions reserved to people, or the key of an agent (`gwa_…`). `/v1/messages` also accepts them as `x-api-key`. In `x-gateway-key`, or as `/k/KEY` before the path, they leave `Authorization` to the client’s own login at Anthropic or ChatGPT. The site API, under `/api`, also accepts access tokens (`gwt_…`). An invalid credential is rejected even where none is required.',
  '- **Workspaces**: a login acts in its own workspace unless the header `X-Workspace-Id` names another one the user belongs to, by id or slug. Model calls, usage, keys and events follow it, as does `me` in a path. A workspace the caller does not belong to returns 404 `not_found`.',
  '- **Every response** has an `x-request-id`. `GET /v1/usage/{request_id}` returns the usage of a finished model call.',
  '- **Money** is a decimal string in dollars. **Times** are ISO 8601 in UTC, except `created`, `created_at` and `completed_at` of responses, chat completions and models, which are Unix seconds as their clients expect.',
  '- **Errors** are `{"error": {type, code, message, param, request_id}}`. Branch on `type`, use `code` for the exact reason and show `message` to people. `param` names the offending field as it was sent (`input[2].content`), or the limit that was reached. On `/v1/messages`, and for requests with the header `anthropic-version`, errors are in Anthropic’s format. `x-should-retry: false` marks errors that a retry will not fix. On the site API errors are `{"message"}`, and invalid input is 422 `{"message", "errors": {field: [sentence]}}`; successful results are under `data`.',
  '- **Bodies** are JSON in UTF-8, at most 32 MiB for model calls, 256 KiB for decisions and 1 MiB elsewhere, nested at most 64 levels deep. Model calls accept additional members; all other endpoints reject them.',
  '- **Hosts and origins**: the `Host` header must name loopback or a configured host. Requests from web pages are rejected unless their origin is configured.',
].join('\n');

/** A description of each group of endpoints. */
export const tagDescriptions = {
  'Model calls': 'Call a model and read stored responses.',
  Models: 'Available models, their providers and prices.',
  Decisions: 'Probabilities for typed questions, free and without a key.',
  Peers: 'Other servers that answer decisions: registered, checked and skipped while they fail.',
  Keys: 'API keys of a workspace, and the calling key itself.',
  Budgets:
    'Limits on what a workspace, a key, an end user or a tag spends, on what a model or a provider is paid, and on what calls cost that match a filter.',
  Alerts: 'Conditions on calls that are reported when they begin and end to hold.',
  Cache: 'Cached answers to repeated requests, free of charge.',
  Agents: 'Programs that sign up by themselves, with a daily free tier.',
  'Provider keys': 'A workspace’s own provider keys: calls that use them cost nothing here.',
  Vault: 'The master key that seals provider keys and recovery phrases.',
  Credit: 'Credit of workspaces, and verification of the ledger.',
  Usage: 'Usage of finished calls.',
  Threads: 'Stored conversations and the model calls in them.',
  Chats: 'Threads and their runs in the form chat clients expect.',
  Events: 'Live events of a workspace.',
  Traces: 'Timings and routing of finished calls.',
  Sessions: 'Log in with a code, show the current login, sign out.',
  Workspaces: 'Workspaces, members and invitations.',
  Users: 'Users of this host (admin).',
  Tokens: 'Access tokens, which call the site API for their user.',
  Profile: 'The calling user.',
  Shouts: 'Public messages, by zone.',
  Whispers: 'Messages from one user to another.',
  Wallet: 'Your Lightning wallet.',
  Payments: 'Pay Lightning invoices, and create your own.',
  Paywalls: 'Put a price in satoshis on requests to a web server.',
  Autopilots: 'Autopilots: their profile, policy and runs.',
  MCP: 'The service’s tools, for models.',
  Engine: 'The embedded engine: model files that the host runs itself.',
  Daemon: 'The daemon itself.',
} as const;

export type Tag = keyof typeof tagDescriptions;
