export { type ResponsesSettings, responsesAdapter } from './adapter.ts';
