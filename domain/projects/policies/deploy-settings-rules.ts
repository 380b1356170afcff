/** Levels of tests that a deployment may ask for, by the platform's names. */
export const DEPLOY_TEST_LEVELS = [
  'NoTestRun',
  'RunSpecifiedTests',
  'RunLocalTests',
  'RunAllTestsInOrg',
  'RunRelevantTests',
] as const;

/** How source is deployed to the org of an environment. */
export interface DeploySettings {
  /** Texts that the environment has otherwise than the repository. */
  replacements?: { find: string; replaceWith: string; files?: string[] | undefined }[] | undefined;
  /** Neither deployed nor deleted here; patterns of paths. */
  ignoredPaths?: string[] | undefined;
  /** For runs whose payload says nothing else. */
  settings?:
    | {
        testLevel?: (typeof DEPLOY_TEST_LEVELS)[number] | undefined;
        tests?: string[] | undefined;
        ignoreWarnings?: boolean | undefined;
      }
    | undefined;
}
