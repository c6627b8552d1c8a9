export { createRecorder, type Recorder } from './recorder.ts';
export { type KeptRecording, readRecordings } from './recording.ts';
export { createReplayer, recordedProviders } from './replayer.ts';
