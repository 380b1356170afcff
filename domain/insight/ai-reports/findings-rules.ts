import { factName } from './fact-rules.ts';

export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface Claim {
  text: string;
  /** Names of facts: `F1`. */
  facts: readonly string[];
}

/** What a model makes of facts. */
export interface Findings {
  summary: string;
  risks: (Claim & { severity: Severity })[];
  recommendations: Claim[];
}

/** Keeps the claims that cite a fact there is, and of their citations those alone; answers how many claims were dropped. */
export function withValidCitations(
  { summary, risks, recommendations }: Findings,
  factCount: number,
): { findings: Findings; dropped: number } {
  const known = new Set(Array.from({ length: factCount }, (_, place) => factName(place)));
  const kept = <C extends Claim>(claims: readonly C[]): C[] =>
    claims.flatMap((claim) => {
      const facts = [...new Set(claim.facts)].filter((name) => known.has(name));
      return facts.length > 0 ? [{ ...claim, facts }] : [];
    });
  const findings = { summary, risks: kept(risks), recommendations: kept(recommendations) };
  const count = risks.length + recommendations.length;
  return { findings, dropped: count - findings.risks.length - findings.recommendations.length };
}
