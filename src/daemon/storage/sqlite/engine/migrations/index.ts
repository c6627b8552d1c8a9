import type { Migration } from '../migrate.ts';
import { first } from './0014-first.ts';
import { loginUses } from './0015-login-uses.ts';
import { wallets } from './0016-wallets.ts';
import { calls } from './0017-calls.ts';
import { rejections } from './0018-rejections.ts';
import { checkpoint } from './0019-checkpoint.ts';
import { agents } from './0020-agents.ts';

/** All migrations, oldest first. Never edit a released one: add a new file instead. */
export const migrations: readonly Migration[] = [
  first,
  loginUses,
  wallets,
  calls,
  rejections,
  checkpoint,
  agents,
];
