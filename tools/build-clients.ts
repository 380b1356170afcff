/**
 * Builds the packages of `clients/`, each where what it is made of has changed since: `npm run build:clients`. What was built
 * before is kept in `node_modules/.cache/quayside/clients` by its hash.
 */
import { buildClients } from './clients/build.ts';
import { exitWith } from './operator-error.ts';

try {
  await buildClients(console.log);
} catch (error) {
  exitWith(error);
}
