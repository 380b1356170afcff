import ts from 'typescript';

/** Jest's own limit: a shorter one of a single test fails it on a busy machine. */
const NET_MS = 180_000;
/** An expiry so near may have passed before the test looks. */
const NEAR_MS = 60_000;

const UPPER = new Set(['toBeLessThan', 'toBeLessThanOrEqual']);
const LOWER = new Set(['toBeGreaterThan', 'toBeGreaterThanOrEqual']);
const LIMITED = new Set(['test', 'it', 'beforeAll', 'beforeEach', 'afterAll', 'afterEach']);
const CLOCKS = new Set(['performance.now()', 'Date.now()']);

/** What a name or expression says of the clock. */
type OfClock = 'moment' | 'elapsed' | 'remaining';

/**
 * What in the source of a test depends on the speed of the machine: each as `file:line reason`. Upper bounds on wall-clock
 * time, expiries within a minute, limits of single tests that are shorter than Jest's.
 */
export function speedProblems(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const problems: string[] = [];
  const names = new Map<string, OfClock>();
  const complain = (node: ts.Node, reason: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    problems.push(`${file}:${line + 1} ${reason}`);
  };
  const isMoment = (node: ts.Node): boolean =>
    CLOCKS.has(node.getText(source)) || (ts.isIdentifier(node) && names.get(node.text) === 'moment');
  /** What an expression, or the first part of it that says anything, says of the clock. */
  const ofClock = (node: ts.Node): OfClock | undefined => {
    if (ts.isIdentifier(node)) {
      const known = names.get(node.text);
      if (known === 'elapsed' || known === 'remaining') return known;
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.MinusToken) {
      if (isMoment(node.left)) return 'elapsed';
      if (CLOCKS.has(node.right.getText(source))) return 'remaining';
    }
    return ts.forEachChild(node, ofClock);
  };
  const note = (node: ts.Node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      const known = isMoment(node.initializer) ? 'moment' : ofClock(node.initializer);
      if (known) names.set(node.name.text, known);
    }
    ts.forEachChild(node, note);
  };
  const look = (node: ts.Node) => {
    if (ts.isCallExpression(node)) lookAtCall(node);
    if (ts.isBinaryExpression(node) && isNearExpiry(node))
      complain(node, 'an expiry so near passes on a busy machine before the test looks: set it back in its row');
    ts.forEachChild(node, look);
  };
  const lookAtCall = (call: ts.CallExpression) => {
    const { expression, arguments: given } = call;
    if (ts.isPropertyAccessExpression(expression)) {
      const subject = ofClock(expression.expression);
      const isBound = (matchers: ReadonlySet<string>) => matchers.has(expression.name.text);
      if ((subject === 'elapsed' && isBound(UPPER)) || (subject === 'remaining' && isBound(LOWER)))
        complain(call, 'a busy machine is slower: count steps, compare CPU, or measure it in bench/');
    }
    const limit = given[2] ?? given[1];
    const isLimited = ts.isIdentifier(rootOf(expression)) && LIMITED.has((rootOf(expression) as ts.Identifier).text);
    if (isLimited && limit && ts.isNumericLiteral(limit) && numberOf(limit) < NET_MS)
      complain(limit, `a limit is a net, and Jest has one of ${NET_MS / 1_000} s`);
  };
  const isNearExpiry = ({ left, right, operatorToken, parent }: ts.BinaryExpression): boolean =>
    ts.isNewExpression(parent) &&
    operatorToken.kind === ts.SyntaxKind.PlusToken &&
    left.getText(source) === 'Date.now()' &&
    ts.isNumericLiteral(right) &&
    numberOf(right) < NEAR_MS;
  note(source);
  look(source);
  return problems;
}

/** `test` of `test.each(cases)(name, run)`. */
function rootOf(expression: ts.Expression): ts.Expression {
  if (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression))
    return rootOf(expression.expression);
  return expression;
}

const numberOf = ({ text }: ts.NumericLiteral): number => Number(text.replaceAll('_', ''));
