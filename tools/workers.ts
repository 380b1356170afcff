import { runCommand } from './operator-error.ts';
import { workersCommand } from './workers-command.ts';

await runCommand(workersCommand);
