/** How something stands: done well, under way, waiting, gone wrong, or none of them. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'idle';
