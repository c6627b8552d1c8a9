// Only these two modules are loaded: the package's main module also loads fetch, WebSocket, caches and cookies, which
// doubles its start time and memory.
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export = Agent;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';
  export = Pool;
}
