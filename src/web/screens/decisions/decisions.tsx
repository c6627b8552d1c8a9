import { Ask } from './ask.tsx';
import { Fits } from './fits.tsx';

/** Typed questions with probabilities as answers, and the fits that scale them. */
export function Decisions() {
  return (
    <>
      <header class="heading">
        <h1>Decisions</h1>
      </header>
      <div class="stack">
        <Ask />
        <Fits />
      </div>
    </>
  );
}
