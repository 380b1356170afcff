import type { RunContext } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import type { TenantKey } from '../../../domain/kernel/shared/actor.ts';
import type { Answer } from '../../../domain/kernel/outbound/answer.port.ts';
import { readRecording, readRecordingFile } from '../../../domain/projects/policies/browser-recording.ts';
import { type BrowserRecording, FILE_BYTES_MAX } from '../../../domain/projects/policies/browser-recording-rules.ts';
import { fetchCommit } from '../../code/git/fetched-commits.ts';
import { remoteOfRun } from '../../delivery/source/remote-of-run.ts';
import type { Deps } from '../../deps.ts';

type Found = Answer<BrowserRecording, { isOk: false; reason: string }>;

const not = (reason: string): Found => ({ isOk: false, reason });

/** The recording of a run: that of its payload, or a file of its commit. Answers in words why there is none to play. */
export async function recordingOfRun(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  signal: AbortSignal,
): Promise<Found> {
  const { path, recording } = run.payload;
  if (typeof path === 'string') return recordingOfFile(deps, tenant, run, path, signal);
  const read = readRecording(recording);
  return 'recording' in read
    ? { isOk: true, value: read.recording }
    : not(`The recording cannot be played: ${read.problems[0]?.message ?? 'it is none'}`);
}

async function recordingOfFile(
  deps: Deps,
  tenant: TenantKey,
  run: RunContext,
  path: string,
  signal: AbortSignal,
): Promise<Found> {
  const found = await remoteOfRun(deps, tenant, run);
  if (!found.isOk) return found;
  const { mirror, remote } = found.value;
  const { mirrors } = deps.git;
  const { commitId: wanted, branch = run.defaultBranch ?? 'main' } = run.payload;
  const commit = await fetchCommit(mirrors, { mirror, remote, wanted, branch }, signal);
  if (!commit.isOk) return commit;
  const at = `${path} at ${commit.value.slice(0, 8)}`;
  const text = await mirrors.file(mirror, remote, commit.value, path, FILE_BYTES_MAX);
  if (text === undefined) return not(`There is no ${at}, or it has more than ${FILE_BYTES_MAX} bytes`);
  const recording = readRecordingFile(text);
  return typeof recording === 'string' ? not(`${at} cannot be played: ${recording}`) : { isOk: true, value: recording };
}
