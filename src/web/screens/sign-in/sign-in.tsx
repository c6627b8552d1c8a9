import { useSignal } from '@preact/signals';
import { isSafeOrigin, login, loginNotice } from '../../data/login.ts';
import {
  type AskedLink,
  acceptLink,
  askedLink,
  isSigningIn,
  signInFailure,
  signInWith,
} from '../../data/sign-in.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Typed } from '../../parts/typed.tsx';

/** Where a browser without a login signs in. */
export function SignIn() {
  return (
    <main class="sign-in">
      <Mark />
      {loginNotice.value && (
        <p class="notice" role="status">
          {loginNotice.value}
        </p>
      )}
      {isSafeOrigin ? <SignInForm /> : <Unencrypted />}
      {signInFailure.value !== undefined && <ProblemBox error={signInFailure.value} />}
      <p class="quiet">
        <a href="docs">API reference</a> · <a href="v1/openapi.json">openapi.json</a> ·{' '}
        <a href="v1/models">models</a>
      </p>
    </main>
  );
}

function Mark() {
  return (
    <h1>
      <span class="mark" aria-hidden="true" />
      Gateway
    </h1>
  );
}

/** Shows whose login a link makes, before it is made. */
export function LinkQuestion({ link }: { link: AskedLink }) {
  const { handle, name } = link.user;
  return (
    <main class="sign-in">
      <Mark />
      <h2>Sign in as {handle}?</h2>
      <p>
        This link signs you in as <strong>{handle}</strong>
        {name !== handle && ` (${name})`}
        {login.value === undefined ? '.' : ', in place of who is signed in now.'} Continue only if that is
        you: {handle} can see what is done with this login.
      </p>
      <p>
        <button type="button" class="main-button" onClick={() => void acceptLink(link)}>
          Sign in as {handle}
        </button>{' '}
        <button
          type="button"
          onClick={() => {
            askedLink.value = undefined;
          }}
        >
          Cancel
        </button>
      </p>
    </main>
  );
}

function SignInForm() {
  const text = useSignal('');
  const isKept = useSignal(false);
  return (
    <>
      <p>On the machine of the gateway, this command opens the dashboard and signs you in:</p>
      <pre>
        <Typed>gateway open</Typed>
      </pre>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signInWith(text.value.trim(), isKept.value);
        }}
      >
        <label>
          Or paste an API key or a login code
          <input
            type="password"
            required
            maxLength={256}
            autocomplete="off"
            spellcheck={false}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept.value}
            onChange={(event) => {
              isKept.value = event.currentTarget.checked;
            }}
          />
          Stay signed in on this browser
        </label>
        <button type="submit" class="main-button" disabled={isSigningIn.value}>
          Sign in
        </button>
      </form>
    </>
  );
}

function Unencrypted() {
  return (
    <div class="problem" role="alert">
      <p>
        This page was loaded without encryption, so others on the network could read your key. There are two
        ways to sign in:
      </p>
      <ul>
        <li>
          an address that starts with <code>https://</code>: set <code>public_url</code>, behind a proxy with
          TLS;
        </li>
        <li>
          the port forwarded to this machine: <code>ssh -L 4100:127.0.0.1:4100 HOST</code>, then{' '}
          <code>http://127.0.0.1:4100</code>.
        </li>
      </ul>
    </div>
  );
}
