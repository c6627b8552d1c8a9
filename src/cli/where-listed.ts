/** By the end of an endpoint's path: the command that lists what it names. */
const lists: readonly [path: RegExp, command: string][] = [
  [/\/keys\/\{key\}/, 'keys list'],
  [/\/members\/\{user\}$/, 'workspaces members'],
  [/\/invitations\/\{invitation\}$/, 'workspaces invitations'],
  [/^\/v1\/workspaces\/\{workspace\}(\/members|\/invitations)?$/, 'workspaces list'],
  [/^\/v1\/sessions\/\{/, 'sessions list'],
  [/^\/v1\/admin\/users\/\{/, 'users list'],
  [/^\/v1\/admin\/credit$/, 'credit show'],
  [/^\/v1\/threads\/\{/, 'threads list'],
  [/^\/v1\/responses\/\{/, 'responses list'],
  [/^\/v1\/(usage|traces)\/\{/, 'traces'],
  [/^\/api\/tokens\/\{/, 'tokens list'],
  [/^\/api\/autopilots\/\{/, 'autopilots list'],
  [/^\/api\/chats\/\{/, 'chats list'],
  [/^\/api\/whispers\/\{/, 'whispers list'],
  [/^\/api\/shouts\/\{/, 'shouts list'],
];

/** The command that tells what there is, for whoever named what there is not; undefined where none does. */
export function whereListed(path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : lists.find(([pattern]) => pattern.test(path));
  return found && `gateway ${found[1]}`;
}
