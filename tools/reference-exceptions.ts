/** A finding of a linter that stays, with the reason. */
export interface LintException {
  rule: string;
  /** Begins the place of the finding: a JSON pointer. */
  place: string;
  reason: string;
}

const GIVEN = 'both paths are given by the published interface; the router takes literal segments first';

/** What the linters of the OpenAPI document may find. One that they no longer find is to be removed. */
export const LINT_EXCEPTIONS: readonly LintException[] = [
  ...['status', 'compare', 'compare-to-packages', 'changes'].map((name) => ({
    rule: 'no-ambiguous-paths',
    place: `#/paths/~1api~1release-candidates~1{id}~1${name}`,
    reason: `by-commit/{commitSha} and {id}/${name}: ${GIVEN}`,
  })),
  ...['verify', 'hold', 'release-hold', 'timeline'].map((name) => ({
    rule: 'no-ambiguous-paths',
    place: `#/paths/~1api~1release-candidates~1{id}~1${name}`,
    reason: 'by-commit/{commitSha} is given by the published interface; the router takes literal segments first',
  })),
  {
    rule: 'no-ambiguous-paths',
    place: '#/paths/~1api~1releases~1{name}~1notes',
    reason: 'work-items/{key} and {name}/notes: both are in use, and the router takes literal segments first',
  },
  {
    rule: 'no-ambiguous-paths',
    place: '#/paths/~1api~1review~1pools~1{id}~1instances',
    reason: 'assign/{id} is given by the published interface; the router takes literal segments first',
  },
  {
    rule: 'operation-2xx-response',
    place: '#/paths/~1review-env~1{assignmentId}/post/responses',
    reason: 'a browser is always redirected, to the page or to the sign-in',
  },
  {
    rule: 'operation-2xx-response',
    place: '#/paths/~1api~1auth~1oidc~1start/get/responses',
    reason: 'a browser is always redirected to the OpenID provider',
  },
  {
    rule: 'operation-2xx-response',
    place: '#/paths/~1api~1auth~1oidc~1return/get/responses',
    reason: 'a browser is always redirected to where it came from',
  },
];
