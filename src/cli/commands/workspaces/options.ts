import { Option } from '@commander-js/extra-typings';

export const roles = ['owner', 'admin', 'member'] as const;

export const workspaceOption = () =>
  new Option('--workspace <workspace>', 'the id or slug of the workspace').default('me');
