export { Capture } from './capture.ts';
export { callerLevel, WorkspaceLevels } from './capture-level.ts';
export { captureHandlers } from './handlers.ts';
export * from './store.ts';
export { type WireWindow, WireWindows } from './wire-windows.ts';
