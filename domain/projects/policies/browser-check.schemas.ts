import { z } from 'zod';
import { openObject } from '../../kernel/overrides/large-maps.ts';
import { readRecording } from './browser-recording.ts';
import { INLINE_CHARACTERS_MAX, originOf, STEPS_MAX } from './browser-recording-rules.ts';
import { Name } from './pipeline.schemas.ts';

/** Problems of a recording that are reported at once. */
const PROBLEMS_MAX = 20;

const Recording = openObject().superRefine((recording, { addIssue }) => {
  const read = readRecording(recording);
  if ('problems' in read) {
    for (const { path, message } of read.problems.slice(0, PROBLEMS_MAX)) addIssue({ code: 'custom', path, message });
  } else if (JSON.stringify(recording).length > INLINE_CHARACTERS_MAX) {
    const where = 'keep it as a file of the repository, as `path`';
    addIssue(`has more than ${INLINE_CHARACTERS_MAX} characters as JSON: ${where}`);
  }
});

/** What is played of a browser check, and where. */
export const BROWSER_CHECK = {
  path: Name.optional().meta({
    description: 'The file of the recording in the repository, at the commit of the release: `checks/smoke.json`',
  }),
  recording: Recording.optional().meta({
    description: `Instead of \`path\`: the recording itself, as the Recorder of Chrome DevTools exports it (JSON), with at most ${STEPS_MAX} steps. What would not be played of it is refused. It is shown to everybody who sees the environment: it is no place for passwords`,
  }),
  recordedAt: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .refine((url) => originOf(url) === url, {
      error: 'must be an origin without a path: https://acme.my.salesforce.com',
    })
    .optional()
    .meta({
      description:
        'Origin of the org at which it was recorded: its addresses of that origin are opened at the org of the environment',
    }),
};

/** Tells of a check that names no recording, or two. */
export function checkRecording(
  { path, recording }: { path?: string | undefined; recording?: unknown },
  addIssue: (issue: { code: 'custom'; path: string[]; message: string }) => void,
): void {
  if ((path === undefined) === (recording === undefined))
    addIssue({ code: 'custom', path: ['path'], message: 'a browser check needs either `path` or `recording`' });
}
