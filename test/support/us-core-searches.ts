import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A search parameter of US Core, and what a server SHALL or SHOULD take with it. */
export interface UsCoreParameter {
	type: 'token' | 'reference' | 'string' | 'date';
	expression: string;
	/** Several values, of which one has to fit. */
	multipleOr?: boolean;
	/** The parameter several times, each of which has to fit. */
	multipleAnd?: boolean;
	comparators: string[];
}

/** A server SHALL or SHOULD do this with a resource type. */
export interface UsCoreType {
	interactions: string[];
	parameters: Record<string, UsCoreParameter>;
	/** Each by the names of its parameters. */
	searches: string[][];
	includes: string[];
	reverseIncludes: string[];
}

/** US Core 6.1.0 asks this of a server (test/support/generate-us-core-searches.ts). */
export const usCoreTypes: Readonly<Record<string, UsCoreType>> = JSON.parse(
	readFileSync(join(import.meta.dirname, '../conformance/us-core-searches.json'), 'utf8'),
);
