/** Whether results keep to the quality gate; `none`: the project has none. */
export interface Gate {
  status: 'passed' | 'failed' | 'none';
  /** A sentence for each limit that is exceeded. */
  reasons: string[];
}
