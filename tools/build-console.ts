/** Builds the web console where what it is made of has changed since: `npm run build:console`. */
import { buildConsole } from './console/build.ts';
import { exitWith } from './operator-error.ts';

try {
  await buildConsole(console.log);
} catch (error) {
  exitWith(error);
}
