/** By what a run may be asked to be executed; `auto`: by what there is. */
export const WANTED_EXECUTORS = ['auto', 'service', 'command', 'pipeline'] as const;
export type WantedExecutor = (typeof WANTED_EXECUTORS)[number];

/** What executes runs of a project, by type, where their payloads do not say. */
export type ExecutorPolicy = Record<string, WantedExecutor>;
