import { problemOf } from '../data/api.ts';

/** An error with its sentence, what to do, and the id of the request. */
export function ProblemBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const { sentence, requestId, remedy } = problemOf(error);
  return (
    <div class="problem" role="alert">
      <p>{sentence}</p>
      {remedy && <p class="quiet">{remedy}</p>}
      <p>
        {retry && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
        {requestId && <code class="quiet">{requestId}</code>}
      </p>
    </div>
  );
}
