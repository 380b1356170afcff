/** What the results of an analysis must keep to. A missing limit means none. */
export interface QualityGate {
  maxErrors?: number;
  maxNewErrors?: number;
  maxNewWarnings?: number;
}
