const SLASH = 0x2f;

/**
 * Whether a branch or domain name matches a pattern: `*` matches within a segment, `**` across slashes, every other
 * character is literal. Linear in pattern × name, so that no user-given pattern can hang the service.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const tokens = pattern.match(/\*\*|\*|[^*]+/gu) ?? [];
  // Positions in the name that are reachable after each token: a walk without backtracking, all in one array.
  const reachable = new Uint8Array(name.length + 1);
  reachable[0] = 1;
  for (const token of tokens) {
    if (token === '*' || token === '**') openRest(reachable, token === '*' ? name : undefined);
    else if (!moveOn(reachable, token, name)) return false;
  }
  return reachable[name.length] === 1;
}

/** @param name whose segments are not left; absent: all that follows is reachable. */
function openRest(reachable: Uint8Array, name: string | undefined): void {
  let isOpen = 0;
  for (let at = 0; at < reachable.length; at++) {
    isOpen |= reachable[at] as number;
    reachable[at] = isOpen;
    if (name !== undefined && name.charCodeAt(at) === SLASH) isOpen = 0;
  }
}

/** Moves each position behind the literal that begins there; false when none is left. From the right, so that each moves once. */
function moveOn(reachable: Uint8Array, literal: string, name: string): boolean {
  let isReached = false;
  for (let end = name.length; end >= 0; end--) {
    const start = end - literal.length;
    const isMatch = start >= 0 && reachable[start] === 1 && isAt(name, start, literal);
    reachable[end] = isMatch ? 1 : 0;
    isReached ||= isMatch;
  }
  return isReached;
}

/** `startsWith`, whose call would cost more than the comparison. */
function isAt(name: string, start: number, literal: string): boolean {
  for (let index = 0; index < literal.length; index++)
    if (name.charCodeAt(start + index) !== literal.charCodeAt(index)) return false;
  return true;
}

/** A text as a regular expression, of JavaScript or PostgreSQL, that matches it alone. */
export const literalSource = (text: string): string => text.replaceAll(/[*.^$+?()[\]{}|\\]/g, String.raw`\$&`);
