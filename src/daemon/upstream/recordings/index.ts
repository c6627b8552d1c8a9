export { createRecorder, type Recorder } from './recorder.ts';
export { readRecordings, type StoredRecording } from './recording.ts';
export { createReplayer, recordedProviders } from './replayer.ts';
