/** A result of a rule at a line of a file. */
export const resultAt = (ruleId: string, uri: string, startLine: number, more: object = {}) => ({
  ruleId,
  level: 'warning',
  message: { text: `${ruleId} at ${uri}:${startLine}` },
  locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
  ...more,
});

/** A log of one run. */
export const logOf = (results: readonly object[] | undefined, more: object = {}) => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'lint', version: '1.2.3' } }, results, ...more }],
});
