export { Capture } from './capture.ts';
export { callerLevel, type WireWindow, WireWindows, WorkspaceLevels } from './capture-level.ts';
export { ClearTexts, type ClearTextsDeps } from './clear-texts.ts';
export { captureHandlers } from './handlers.ts';
export * from './store.ts';
