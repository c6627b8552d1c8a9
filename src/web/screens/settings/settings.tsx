import { Appearance } from './appearance.tsx';
import { Configuration } from './configuration.tsx';
import { ContentSettings } from './content-settings.tsx';
import { Logins } from './logins.tsx';
import { RedactionPreview } from './redaction-preview.tsx';

/** What is kept of calls, logins, how the page looks, and the configuration. */
export function Settings() {
  return (
    <>
      <header class="heading">
        <h1>Settings</h1>
      </header>
      <div class="settings">
        <ContentSettings />
        <RedactionPreview />
        <Logins />
        <Appearance />
        <Configuration />
      </div>
    </>
  );
}
