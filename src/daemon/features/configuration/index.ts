export {
  changedSincePreview,
  createConfigurationChanges,
  type HostEntry,
  type PlannedChange,
} from './changes.ts';
export { configurationHandlers } from './handlers.ts';
