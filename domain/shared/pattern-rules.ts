/**
 * Whether a branch or domain name matches a pattern: `*` matches within a segment, `**` across slashes, every other
 * character is literal. Linear in pattern × name, so that no user-given pattern can hang the service.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const tokens = pattern.match(/\*\*|\*|[^*]/gsu) ?? [];
  // Reachable positions in the name after each token: a walk without backtracking.
  let reachable = new Set([0]);
  for (const token of tokens) {
    const next = new Set<number>();
    if (token === '*' || token === '**') {
      for (const start of reachable) {
        for (let at = start; at <= name.length; at++) {
          if (next.has(at)) break;
          next.add(at);
          if (token === '*' && name[at] === '/') break;
        }
      }
    } else {
      for (const at of reachable) if (name.startsWith(token, at)) next.add(at + token.length);
    }
    reachable = next;
    if (reachable.size === 0) return false;
  }
  return reachable.has(name.length);
}
