export { Capture } from './capture.ts';
export type { CaptureSettings } from './capture-level.ts';
export { captureHandlers } from './handlers.ts';
export * from './store.ts';
