import type { Access } from './endpoint.ts';

/** The parts of the API's description that belong to no endpoint, for the people who read it. */

export const apiDescription = [
  'Gateway answers model calls in two wire formats from one address, routes each to a provider, and tells what it cost.',
  '',
  '- **Credentials** go into `Authorization: Bearer …`: an API key (`gwk_…`), or a login key (`gwl_…`) for what only a person may do. The site API, whose paths begin with `/api`, takes access tokens (`gwt_…`) too. A credential that is given and wrong is refused even where none is needed.',
  '- **Workspaces**: a login acts in the workspace of its own unless the header `X-Workspace-Id` names another of its user, by id or slug; model calls, usage, keys and events follow it, and so does `me` in a path. One that the caller does not belong to is 404 `not_found`.',
  '- **Every answer** carries `x-request-id`. `GET /v1/usage/{request_id}` tells what a finished model call took.',
  '- **Money** is decimal strings in dollars. **Times** are ISO 8601 in UTC, but for `created`, `created_at` and `completed_at` of responses, chat completions and models: those are Unix seconds, as their clients expect.',
  '- **Failures** are `{"error": {type, code, message, param, request_id}}`. Branch on `type`, look at `code` for the exact reason, show `message` to people. `param` names the field at fault as it was written (`input[2].content`), or the limit that was hit. `x-should-retry: false` marks those that do not go better a second time. On the site API they are `{"message"}`, and 422 `{"message", "errors": {field: [sentence]}}` for input that is not accepted; what succeeds is under `data`.',
  '- **Bodies** are JSON in UTF-8, at most 32 MiB for model calls and 1 MiB elsewhere, nested at most 64 levels deep. Model calls accept members that are not described here; everything else refuses them.',
  '- **Hosts and origins**: requests have to name loopback, or a host that the daemon was told, in `Host`. Web pages are refused unless their origin was named.',
].join('\n');

/** What each group of endpoints is for. */
export const tagDescriptions = {
  'Model calls': 'Ask a model, and read what was stored of its answers.',
  Models: 'Which models there are, who provides them, and what they cost.',
  Keys: 'API keys of a workspace, and the calling key itself.',
  Cache: 'Answers that are given again to the same request, at no charge.',
  'Provider keys': 'A workspace’s own keys for providers: calls with them cost nothing here.',
  Vault: 'What seals provider keys.',
  Credit: 'What workspaces were granted and have left, and whether the books add up.',
  Usage: 'What finished calls took.',
  Threads: 'Conversations that are kept, and the model calls in them.',
  Chats: 'Threads as chat clients see them, with their runs.',
  Events: 'What happens, as it happens.',
  Traces: 'What finished calls went through.',
  Sessions: 'Log in with a code, see who is logged in, sign out.',
  Workspaces: 'Workspaces, their members, and invitations to them.',
  Users: 'The people of this host, for whoever runs it.',
  Tokens: 'Access tokens: they call the site API for their user.',
  Profile: 'The person who calls.',
  Shouts: 'Public messages, by zone.',
  Whispers: 'Messages from one person to another.',
  Autopilots: 'What acts for somebody, and how.',
  MCP: 'The tools of this service for models that use tools.',
  Daemon: 'The daemon itself.',
} as const;

export type Tag = keyof typeof tagDescriptions;

/** Who may call, in a sentence. */
export function accessSentence({ anonymous, apiKey, login, token, loginOnly }: Access): string {
  if (anonymous) return 'No credential is needed.';
  const loginKey = `a login key${login === undefined || login === 'any' ? '' : ` of ${roles[login]}`}`;
  if (loginOnly) return `Needs ${loginKey}; an API key will not do.`;
  const scopes = apiKey === undefined || apiKey === 'any' ? [] : [apiKey].flat();
  const scope = scopes.length === 0 ? '' : ` with the scope ${scopes.map((it) => `\`${it}\``).join(' or ')}`;
  const kinds = [
    ...(apiKey === undefined ? [] : [`an API key${scope}`]),
    ...(login === undefined ? [] : [loginKey]),
    ...(token === undefined
      ? []
      : [`an access token${token === 'any' ? '' : ` with ${abilityWords(token)}`}`]),
  ];
  return `Needs ${kinds.join(', or ')}.`;
}

const abilityWords = (token: string) =>
  token === '*' ? 'the ability `*`' : `the ability \`${token}\` or \`*\``;

const roles = { owner: 'the owner', admin: 'an owner or admin', member: 'a member' } as const;
