import { tagKey } from './tag-key.ts';
/** Why a data set could not be read. */
export type FaultKind =
	/** It ends within an element. */
	| 'truncated'
	/** Not written in the transfer syntax that was agreed, or not a data set at all. */
	| 'encoding'
	/** Lengths, items and delimiters do not fit each other. */
	| 'structure'
	/** Deeper or longer than is read. */
	| 'too-large'
	/** An element without which the instance cannot be filed is absent or empty. */
	| 'missing'
	/** An identifying element has a value that it may not have. */
	| 'value';

export interface DataSetFault {
	kind: FaultKind;
	/** ASCII; names elements and rules, never a value. */
	text: string;
}

/** The text of the fault `too-large` of a data set that is not too long. */
export const tooDeep = 'sequences lie too deep in one another';

/** Thrown while a data set is read, and turned into a result by whoever reads. */
export class DataSetError extends Error {
	override readonly name = 'DataSetError';
	readonly fault: DataSetFault;

	constructor(kind: FaultKind, text: string) {
		super(text);
		this.fault = { kind, text };
	}
}

/** `(0020,000D)` */
export function tagText(tag: number): string {
	const hex = tagKey(tag);
	return `(${hex.slice(0, 4)},${hex.slice(4)})`;
}
