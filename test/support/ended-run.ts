import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import { eventually } from './eventually.ts';

/** The detail of a run once it has ended. */
export const endedRun = (app: TestApp, { id }: Json): Promise<Json> =>
  eventually(
    () => app.as(app.owner).get(200, `/api/flows/runs/${id}`),
    ({ success }) => success !== null,
  );
