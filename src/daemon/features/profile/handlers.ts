import {
  type ChatThread,
  deleteProfile,
  getMe,
  getProfile,
  type Profile,
  updateProfile,
} from '../../../shared/contract/profile.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Caller, type Handler, implement } from '../../base/handler.ts';
import type { ProfileFeature } from './profile.ts';
import type { PersonRecord } from './store.ts';

interface ProfileHandlersDeps {
  profile: ProfileFeature;
  /** The caller's latest chats; none by default. */
  chatsOf?: (caller: Caller, limit: number) => Promise<ChatThread[]>;
}

const chatsDefault = 50;

export function profileHandlers({ profile, chatsOf = async () => [] }: ProfileHandlersDeps): Handler[] {
  return [
    implement(getProfile, async ({ caller }) => ({ data: toProfile(await profile.of(caller)) })),
    implement(updateProfile, async ({ caller, body }) => ({
      data: toProfile(await profile.change(caller, body)),
    })),
    implement(deleteProfile, async ({ caller, body }) => {
      await profile.remove(caller, body.email);
      return { data: { deleted: true } };
    }),
    implement(getMe, async ({ caller, query }) => {
      const person = await profile.of(caller);
      const limit = Math.min(query.chat_limit ?? chatsDefault, pageSizeMax);
      const chatThreads = await chatsOf(caller, limit);
      return { data: { user: { ...toProfile(person), handle: person.handle }, chatThreads } };
    }),
  ];
}

function toProfile({ avatar, createdAt, email, number, name, updatedAt }: PersonRecord): Profile {
  return {
    avatar,
    createdAt: isoTime(createdAt),
    email: email ?? '',
    id: number,
    name,
    updatedAt: isoTime(updatedAt),
  };
}
