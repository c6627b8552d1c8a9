import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { onAlerts } from './data/alert-notices.ts';
import { addScreenKeys } from './data/go-keys.ts';
import { useKeys } from './data/keys.ts';
import { login } from './data/login.ts';
import { hrefOf, navigate, route } from './data/route.ts';
import { askedLink, isSigningIn } from './data/sign-in.ts';
import { screenTitle } from './data/title.ts';
import { ConnectionBanner } from './parts/connection-banner.tsx';
import { FiringAlerts } from './parts/firing-alerts.tsx';
import { LoadedScreen } from './parts/loaded-screen.tsx';
import { Navigation } from './parts/navigation.tsx';
import { Toasts, toast } from './parts/toast.tsx';
import { type Screen, screens } from './screens/index.ts';
import { LinkQuestion, SignIn } from './screens/sign-in/sign-in.tsx';

/** What is opened over a screen by a key. */
interface OverlayProps {
  screens: readonly Screen[];
  onClose: () => void;
}

/** The whole page: where one signs in, or the screen that the address names. */
export function App() {
  if (login.value === 'unknown') return null;
  if (askedLink.value !== undefined) return <LinkQuestion link={askedLink.value} />;
  // A link may be that of someone else.
  if (login.value === undefined || isSigningIn.value) return <SignIn />;
  const { secret, workspace } = login.value;
  // Nothing of one workspace stays on the page for another.
  return <SignedIn key={`${secret} ${workspace}`} />;
}

function SignedIn() {
  const opened = useSignal<ComponentType<OverlayProps> | undefined>(undefined);
  useEffect(() => addScreenKeys(screens), []);
  const open = async (load: () => Promise<ComponentType<OverlayProps>>) => {
    const loaded = await load();
    opened.value = loaded;
  };
  const openHelp = () => void open(async () => (await import('./parts/key-help.tsx')).KeyHelp);
  useKeys({
    'Ctrl-k': () => void open(async () => (await import('./parts/palette.tsx')).Palette),
    '?': openHelp,
  });
  useEffect(() => onAlerts(toast), []);
  const Overlay = opened.value;
  const { screen: name } = route.value;
  const screen = screens.find((one) => one.name === name);
  useEffect(() => {
    if (screen === undefined) navigate(hrefOf(screens[0]?.name ?? ''), { replace: true });
    else screenTitle.value = screen.title;
  }, [screen]);
  return (
    <div class="page">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Navigation screens={screens} current={name} onHelp={openHelp} />
      <main id="main" tabIndex={-1}>
        <ConnectionBanner />
        <FiringAlerts />
        {screen && <LoadedScreen key={screen.name} screen={screen} />}
      </main>
      {Overlay && (
        <Overlay
          screens={screens}
          onClose={() => {
            opened.value = undefined;
          }}
        />
      )}
      <Toasts />
    </div>
  );
}
