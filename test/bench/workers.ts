import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadResult, LoadTask } from './load-task.ts';
import { startNode } from './processes.ts';

const scriptAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const withMessages: SpawnOptions = { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] };

export interface Provider {
  process: ChildProcess;
  port: number;
}

export async function startProvider(core: string | undefined): Promise<Provider> {
  const child = startNode(scriptAt('./mock-provider.ts'), core, [], withMessages);
  const [port] = await once(child, 'message');
  return { process: child, port };
}

export interface Load {
  process: ChildProcess;
  run(task: LoadTask): Promise<LoadResult>;
}

export async function startLoad(core: string | undefined): Promise<Load> {
  const child = startNode(scriptAt('./load.ts'), core, [], withMessages);
  await once(child, 'message');
  return {
    process: child,
    async run(task) {
      const answer = once(child, 'message');
      child.send(task);
      const [{ result, error }] = await answer;
      if (error) throw new Error(`the load generator failed: ${error}`);
      return result;
    },
  };
}
