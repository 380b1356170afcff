import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import { PINNED } from './temporal-start.ts';

/** Temporal refuses a behaviour from workers without a build id. */
const isVersioned = (): boolean => Boolean(workflowInfo().currentDeploymentVersion?.deploymentName);

/**
 * For workflows that end within minutes: they do so on the build on which they began. All others move to the build that
 * is current, and so change only in ways that workflows under way can follow.
 */
export const endsOnItsBuild = (): WorkflowDefinitionOptions => (isVersioned() ? { versioningBehavior: 'PINNED' } : {});

/**
 * Options of `endsOnItsBuild` for workflows whose contract says so for their input, which is not known yet when this is
 * asked.
 */
export const endsOnItsBuildIfPinned = (): WorkflowDefinitionOptions =>
  workflowInfo().memo?.[PINNED] === true ? endsOnItsBuild() : {};
