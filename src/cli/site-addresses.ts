import { address } from '../shared/client.ts';
import type * as autopilots from '../shared/contract/autopilots.ts';
import type * as profile from '../shared/contract/profile.ts';
import type * as shouts from '../shared/contract/shouts.ts';
import type * as tokens from '../shared/contract/tokens.ts';
import type * as whispers from '../shared/contract/whispers.ts';

/** Where commands call on the site API; as `addresses.ts`. */
export const listTokens = address<typeof tokens.listTokens>('GET', '/api/tokens');
export const createToken = address<typeof tokens.createToken>('POST', '/api/tokens');
export const revokeToken = address<typeof tokens.revokeToken>('DELETE', '/api/tokens/{tokenId}');
export const revokeTokens = address<typeof tokens.revokeTokens>('DELETE', '/api/tokens');

export const getMe = address<typeof profile.getMe>('GET', '/api/me');
export const updateProfile = address<typeof profile.updateProfile>('PATCH', '/api/settings/profile');
export const deleteProfile = address<typeof profile.deleteProfile>('DELETE', '/api/settings/profile');

export const listWhispers = address<typeof whispers.listWhispers>('GET', '/api/whispers');
export const sendWhisper = address<typeof whispers.sendWhisper>('POST', '/api/whispers');
export const listWhisperThreads = address<typeof whispers.listWhisperThreads>('GET', '/api/whispers/threads');
export const streamWhispers = address<typeof whispers.streamWhispers>('GET', '/api/whispers/stream');
export const readWhisper = address<typeof whispers.readWhisper>('PATCH', '/api/whispers/{id}/read');
export const readAllWhispers = address<typeof whispers.readAllWhispers>('PATCH', '/api/whispers/read-all');

export const listShouts = address<typeof shouts.listShouts>('GET', '/api/shouts');
export const postShout = address<typeof shouts.postShout>('POST', '/api/shouts');
export const deleteShout = address<typeof shouts.deleteShout>('DELETE', '/api/shouts/{id}');
export const listZones = address<typeof shouts.listZones>('GET', '/api/shouts/zones');
export const streamShouts = address<typeof shouts.streamShouts>('GET', '/api/shouts/stream');

export const listAutopilots = address<typeof autopilots.listAutopilots>('GET', '/api/autopilots');
export const createAutopilot = address<typeof autopilots.createAutopilot>('POST', '/api/autopilots');
export const getAutopilot = address<typeof autopilots.getAutopilot>('GET', '/api/autopilots/{autopilot}');
export const updateAutopilot = address<typeof autopilots.updateAutopilot>(
  'PATCH',
  '/api/autopilots/{autopilot}',
);
export const archiveAutopilot = address<typeof autopilots.archiveAutopilot>(
  'DELETE',
  '/api/autopilots/{autopilot}',
);
