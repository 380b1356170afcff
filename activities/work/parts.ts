import type { FindWorkTracker } from '../../domain/work/work-items/work-tracker.port.ts';
import { createWorkTrackers } from '../adapters/trackers/work-trackers.ts';
import type { Base, Made } from '../base.ts';
import type { MockParts } from '../mocks/parts.ts';

export interface WorkParts {
  findWorkTracker: FindWorkTracker;
}

export function createWorkParts({
  config,
  hosts,
  actingAs,
  encryption,
  now,
}: Base & Pick<MockParts, 'hosts'>): Made<WorkParts> {
  const { find, close } = createWorkTrackers(
    { outbound: hosts, actingAs, encryption, now },
    config.WORK_TRACKER_TIMEOUT_SECONDS * 1_000,
  );
  return { parts: { findWorkTracker: find }, close };
}
