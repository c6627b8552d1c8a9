export { type Agents, agents, type SignUpSettings } from './agents.ts';
export { agentHandlers, agentKeyView } from './handlers.ts';
export type { AgentRecord, AgentsStore } from './store.ts';
