import { getConfiguration, getSession } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { useQuery } from '../../data/query.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Aliases } from './aliases.tsx';
import { Members } from './members.tsx';
import { Providers } from './providers.tsx';
import { Upstreams } from './upstreams.tsx';
import { Users } from './users.tsx';
import { Workspaces } from './workspaces.tsx';

/** What is set up once: providers and names for the host's owner, members and workspaces for everyone. */
export function Setup() {
  const session = useQuery(getSession, {});
  const query = useQuery(getConfiguration, {});
  const isRefused = query.error instanceof ReceivedError && [401, 403].includes(query.error.status);
  return (
    <>
      <header class="heading">
        <h1>Setup</h1>
      </header>
      <div class="stack">
        {session.error !== undefined && <ProblemBox error={session.error} retry={session.reload} />}
        {!isRefused && (
          <>
            <Upstreams query={query} />
            <Providers query={query} />
            <Aliases query={query} />
          </>
        )}
        {session.data && (
          <>
            <Members workspace={session.data.workspace} own={session.data.user.id} />
            <Workspaces />
          </>
        )}
        {!isRefused && session.data && <Users />}
      </div>
    </>
  );
}
