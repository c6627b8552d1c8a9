export { createRecorder } from './recorder.ts';
export { readRecordings } from './recording.ts';
export { createReplayer, recordedProviders } from './replayer.ts';
