export { createAgents, type SignUpSettings } from './agents.ts';
export { agentHandlers, agentKeyView } from './handlers.ts';
