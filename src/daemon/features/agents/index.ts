export { createAgents } from './agents.ts';
export { agentHandlers, agentKeyView } from './handlers.ts';
