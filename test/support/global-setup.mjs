// Jest compiles a setup in TypeScript to CommonJS; from here Node itself loads it.
export { default } from './global-setup.ts';
