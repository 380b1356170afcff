import { listProjects } from '@quayside/client';
import { ask } from './ask.ts';
import { client } from './client.ts';

/** The first hundred projects, by their identifier: those that a person chooses from. */
export const projectsQuery = ask(['projects'], (signal) => listProjects({ client, signal, query: { limit: 100 } }), {
  topics: ['project'],
  isList: true,
});
