export interface Destination {
  to: string;
  name: string;
  hint?: string;
  project: string | undefined;
}

/** What the service knows by that text, beside pages and projects. */
export function useFound(_text: string, _project: string | undefined): readonly Destination[] {
  return [];
}
