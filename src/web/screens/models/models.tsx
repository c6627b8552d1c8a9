import { ZoneChoice } from '../../parts/zone-choice.tsx';
import { ModelList } from './model-list.tsx';
import { ProvidersHealth } from './provider-health.tsx';
import { ProviderKeys } from './provider-keys.tsx';

/** How providers do, which models there are, and the workspace's own keys for them. */
export function Models() {
  return (
    <>
      <header class="heading">
        <h1>Models & providers</h1>
        <ZoneChoice />
      </header>
      <div class="stack">
        <ProvidersHealth />
        <ModelList />
        <ProviderKeys />
      </div>
    </>
  );
}
