import { xmlText } from '../../orgs/crm/xml-rules.ts';
import type { ResultCounts, TestResult } from './apex-test-rules.ts';

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);
/** The beginning of a report in the format that the platform's own tool writes. */
export const junitHead = ({ total, failed, skipped, timeMs }: ResultCounts, timestamp: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="force.apex" timestamp="${xmlText(timestamp)}" tests="${total}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds(timeMs)}">\n`;

export const JUNIT_END = '</testsuite>\n</testsuites>\n';

export function junitCase({ className, method, outcome, message, stackTrace, timeMs }: TestResult): string {
  const head = `<testcase name="${xmlText(method)}" classname="${xmlText(className)}" time="${seconds(timeMs ?? 0)}"`;
  if (outcome === 'Pass') return `${head}/>\n`;
  if (outcome === 'Skip') return `${head}><skipped/></testcase>\n`;
  return `${head}><failure message="${xmlText(message ?? outcome)}">${xmlText(stackTrace ?? '')}</failure></testcase>\n`;
}
