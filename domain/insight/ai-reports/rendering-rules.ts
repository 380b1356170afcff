import { markdownText } from '../../delivery/releases/changelogs/notes-format-rules.ts';
import { counted, factName, type ReportFacts } from './fact-rules.ts';
import type { Findings } from './findings-rules.ts';
import type { ReportTitle } from './prompt-rules.ts';

export interface RenderedReport {
  title: ReportTitle;
  commitSha: string | null;
  facts: ReportFacts;
  /** Null: no model was asked. */
  assessment: (Assessment & { findings: Findings }) | null;
}

interface Assessment {
  provider: string;
  model: string;
  dropped: number;
}

/**
 * Text that shows as it is and becomes no link: some processors look for addresses after they took escapes away, so a space
 * of no width is in them.
 */
const plainText = (raw: string): string =>
  markdownText(raw)
    .replaceAll(/\\:(?=\/\/)|\\@/g, '$&\u200b')
    .replaceAll(/\bwww(?=\\\.)/gi, '$&\u200b');

const heading = (level: number, text: string): string => `${'#'.repeat(level)} ${text}`;

/** A report as Markdown: the facts, then what a model makes of them. All texts show as they are: no links, no images, no HTML. */
export function renderReport({ title, commitSha, facts, assessment }: RenderedReport): string {
  const { repositoryIdentifier, branch, scope, scopeName } = title;
  const subject = scope === 'repository' ? repositoryIdentifier : `${scope} ${scopeName} of ${repositoryIdentifier}`;
  const place = `Branch ${plainText(branch)}${commitSha === null ? '' : `, commit ${plainText(commitSha)}`}`;
  return [
    heading(1, `Report on ${plainText(subject)}`),
    `${place}.${assessment ? '' : ' This report has facts alone: no language model was asked.'}`,
    heading(2, 'Facts'),
    factList(facts),
    ...(assessment ? assessmentParts(assessment.findings, assessment) : []),
  ]
    .join('\n\n')
    .concat('\n');
}

function factList({ facts, omitted }: ReportFacts): string {
  const lines = facts.map(({ text, source }, place) => `- **${factName(place)}** (${source}) ${plainText(text)}`);
  if (omitted > 0) lines.push(`- ${counted(omitted, 'further fact')} ${omitted === 1 ? 'is' : 'are'} not listed.`);
  return lines.join('\n');
}

function assessmentParts({ summary, risks, recommendations }: Findings, assessment: Assessment): string[] {
  const { provider, model, dropped } = assessment;
  const citations = (facts: readonly string[]): string => `(${facts.join(', ')})`;
  return [
    heading(2, 'Assessment by a language model'),
    `Written by ${plainText(model)} (${plainText(provider)}) from the facts above, which it cites. It may be wrong.`,
    plainText(summary),
    heading(3, 'Risks'),
    list(risks.map(({ text, severity, facts }) => `- **${severity}**: ${plainText(text)} ${citations(facts)}`)),
    heading(3, 'Recommendations'),
    list(recommendations.map(({ text, facts }) => `- ${plainText(text)} ${citations(facts)}`)),
    ...(dropped > 0
      ? [`${counted(dropped, 'claim')} without a valid citation ${dropped === 1 ? 'was' : 'were'} dropped.`]
      : []),
  ];
}

const list = (lines: readonly string[]): string => (lines.length === 0 ? 'None.' : lines.join('\n'));
