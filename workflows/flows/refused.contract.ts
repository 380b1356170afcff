/** The type of activities' failures whose message people may read on the run, and which no repetition mends. */
export const REFUSED = 'refused';
