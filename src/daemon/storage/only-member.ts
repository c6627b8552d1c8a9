import type { Members } from '../features/daemons/members.ts';

/** A daemon that has its database for itself. */
export const onlyMember: Members = {
  count: () => 1,
  isLeader: () => true,
  hasLeft: () => false,
  hasTerm: () => true,
  sinceRenewal: () => 0,
  onChange: () => () => {},
};
