export { type KeptRecording, readRecordings } from './read-recordings.ts';
export { createRecorder, type Recorder } from './recorder.ts';
export { createReplayer, recordedProviders } from './replayer.ts';
