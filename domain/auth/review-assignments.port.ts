import type { Actor } from '../shared/actor.ts';

/** Finds the active assignment of a review environment to the work on a repository; answers its id. */
export type FindReviewAssignment = (
  actor: Actor,
  target: { targetOrg: string; repository: string },
) => Promise<string | undefined>;
