import { hostKeyPrefix } from '../../../shared/constants/host-keys.ts';
import type { Change } from '../../base/changes.ts';
import type { LocalChanges } from '../local-changes.ts';
import type { Writer } from './engine/writer.ts';
import type { Expired } from './expire-credentials.ts';
import type { WriteCommands } from './write-commands.ts';

type ChangesOf = {
  [N in keyof WriteCommands]?: (
    data: Parameters<WriteCommands[N]>[0],
    result: ReturnType<WriteCommands[N]>,
  ) => readonly Change[];
};

const none: readonly Change[] = [];
const ended = (id: string): Change => ({ topic: 'revocation', id });

/** The vault has other secrets, too, which no daemon keeps in memory. */
const ofHost = (name: string): readonly Change[] =>
  name.startsWith(hostKeyPrefix) ? [{ topic: 'host_key' }] : none;

const expiries = ({ keys, ended: ids }: Expired): readonly Change[] => [
  ...keys.map((key): Change => ({ topic: 'key', ...key })),
  ...ids.map(ended),
];

/** The writes that change what daemons keep in memory. */
const changesOf: ChangesOf = {
  'keys.revoke': (_, ids) => ids.map(ended),
  'keys.setLimits': ({ workspaceId, keyId }) => [{ topic: 'key', workspaceId, keyId }],
  'keys.setDefaults': ({ workspaceId, keyId }) => [{ topic: 'key', workspaceId, keyId }],
  'keys.rotate': ({ workspaceId, keyId }, isDone) => (isDone ? [{ topic: 'key', workspaceId, keyId }] : none),
  'keys.setPaused': ({ workspaceId, keyId }, isDone) =>
    isDone ? [{ topic: 'key', workspaceId, keyId }] : none,
  'engine.setBack': (_, expired) => expiries(expired),
  'engine.refuse': (_, expired) => expiries(expired),
  'tokens.revoke': (_, ids) => ids.map(ended),
  'people.revokeLogin': ({ loginId }, isRevoked) => (isRevoked ? [ended(loginId)] : none),
  'people.redeemLink': (_, outcome) =>
    typeof outcome === 'object' && 'ended' in outcome ? outcome.ended.map(ended) : none,
  'workspaces.replaceLogin': (_, ids) => ids.map(ended),
  'people.changeWorkspace': ({ workspaceId }) => [{ topic: 'workspace', workspaceId }],
  'people.setRole': ({ workspaceId, userId }) => [{ topic: 'role', workspaceId, userId }],
  'people.removeMember': ({ workspaceId, userId }, outcome) =>
    outcome === 'done' ? [{ topic: 'departure', workspaceId, userId }] : none,
  'profile.remove': ({ userId }, removed) =>
    typeof removed === 'object' && 'credentials' in removed
      ? [
          ...removed.credentials.map(ended),
          ...removed.workspaces.map((workspaceId): Change => ({ topic: 'departure', workspaceId, userId })),
          { topic: 'paywalls' },
        ]
      : none,
  'budgets.put': ({ budget: { workspaceId, id } }) => [{ topic: 'budget', workspaceId, id }],
  'budgets.remove': ({ workspaceId, id }) => [{ topic: 'budget', workspaceId, id }],
  'texts.forgetUser': ({ workspaceId }, { budgets }) =>
    budgets.map((id): Change => ({ topic: 'budget', workspaceId, id })),
  'peers.put': ({ settings: { workspaceId, name } }) => [{ topic: 'peer', workspaceId, name }],
  'peers.remove': ({ workspaceId, name }) => [{ topic: 'peer', workspaceId, name }],
  'providerKeys.put': ({ record: { workspaceId, provider, name } }) => [
    { topic: 'provider_key', workspaceId, provider, name },
  ],
  'providerKeys.delete': ({ workspaceId, provider, name }) => [
    { topic: 'provider_key', workspaceId, provider, name },
  ],
  'vault.addMaster': () => [{ topic: 'vault' }],
  'vault.putSecret': ({ name }, isStored) => (isStored ? ofHost(name) : none),
  'vault.deleteSecret': (name) => ofHost(name),
  'vault.rotate': () => [{ topic: 'vault' }],
  'paywalls.insert': () => [{ topic: 'paywalls' }],
  'paywalls.replace': () => [{ topic: 'paywalls' }],
  'decisions.saveCalibration': () => [{ topic: 'calibrations' }],
  'decisions.removeCalibration': () => [{ topic: 'calibrations' }],
  'autopilots.insert': () => [{ topic: 'schedules' }],
  'autopilots.replace': () => [{ topic: 'schedules' }],
};

/** The names of the writes that announce something. */
export const announcedWrites: ReadonlySet<string> = new Set(Object.keys(changesOf));

/** What a write has changed. */
export function changesBy(name: string, data: unknown, result: unknown): readonly Change[] {
  return changesOf[name as keyof WriteCommands]?.(data as never, result as never) ?? none;
}

/** Announces what writes have changed before they resolve. */
export function announcing(
  writer: Pick<Writer<WriteCommands>, 'write' | 'replace'>,
  changes: Pick<LocalChanges, 'announce'>,
): Pick<Writer<WriteCommands>, 'write' | 'replace'> {
  return {
    write(name, data, options) {
      const written = writer.write(name, data, options);
      if (!announcedWrites.has(name)) return written;
      return written.then(async (result) => {
        await changes.announce(changesBy(name, data, result));
        return result;
      });
    },
    replace: (waiting, name, data) => writer.replace(waiting, name, data),
  };
}
