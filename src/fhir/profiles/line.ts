import type { DefinitionKind } from './library.ts';

/** A definition that ships with the product: its kind, its URL, and itself as JSON text. */
export type Line = readonly [kind: DefinitionKind, url: string, text: string];
