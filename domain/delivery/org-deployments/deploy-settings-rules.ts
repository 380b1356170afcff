import type { DeploySettings } from '../../projects/policies/deploy-settings-rules.ts';
import type { SourceOrder } from '../source/source-build.port.ts';

/** What of the settings of an environment changes what is built. */
export const builtWith = (deploy: DeploySettings | null): Pick<SourceOrder, 'replacements' | 'ignoredPaths'> => ({
  ...(deploy?.replacements?.length && {
    replacements: deploy.replacements.map(({ find, replaceWith, files }) => ({
      find,
      replaceWith,
      ...(files && { files }),
    })),
  }),
  ...(deploy?.ignoredPaths?.length && { ignoredPaths: deploy.ignoredPaths }),
});

/** A payload with what its environment says where it says nothing itself. A validation that is deployed is as it was. */
export function withDefaults(
  payload: Readonly<Record<string, unknown>>,
  deploy: DeploySettings | null,
): Readonly<Record<string, unknown>> {
  const { testLevel, tests, ignoreWarnings } = deploy?.settings ?? {};
  const isSaid = payload.testLevel !== undefined || payload.tests !== undefined || payload.quickDeployOf !== undefined;
  return {
    ...(!isSaid && testLevel !== undefined && { testLevel, ...(tests && { tests }) }),
    ...(ignoreWarnings !== undefined && { ignoreWarnings }),
    ...payload,
  };
}
