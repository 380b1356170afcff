/** A file of its own beside the command line, which the other commands need not load. */
export const loadMcp = () => import('./mcp.js');
