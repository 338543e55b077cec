import type { Identifier } from '../resource-patch.ts';
import type { ApplyContext } from './context.ts';
import type { References } from './references.ts';
import type { SiteKeys } from './site-keys.ts';

/** A change of any kind, with the members that other changes of its message need to know. */
export interface AnyChange {
	readonly kind: string;
}

/** A patient as a change names them. */
export interface NamedPatient {
	/** The number by which the other changes of the message refer to the patient. */
	ref: number;
	/** Every one that identifies is matched. */
	identifiers: [Identifier, ...Identifier[]];
	/** The identifiers by which the patient is matched, if not by all. */
	matchedBy?: readonly Identifier[];
	/** The default authority of the sender or its site; a FHIR system URI. */
	authority?: string;
	/** The XPath of the first identifier, in a format without segments. */
	expression?: string;
}

/** A kind of change and its behaviour. All code that depends on the kind uses the table of kinds (`kinds/index.ts`). */
export interface ChangeKind<C extends AnyChange> {
	readonly kind: C['kind'];
	/** Names the rows that must be read before the change is applied. */
	keys(change: C, keys: SiteKeys, message: readonly AnyChange[]): void;
	/** Its message is applied alone, because it moves rows by statement or because the rows it needs are found through stored rows. */
	readonly alone?: true;
	/** Tells whether the change needs a search that only the site's turn can carry out. */
	needsLookup?(change: C): boolean;
	/** Returns the business identifier values of its patients. The message log is searched by them. */
	patients?(change: C): readonly string[];
	/** Tells whether the patient of its message stays unchanged if they are already known. */
	keepsPatient?(context: ApplyContext, change: C, patient: NamedPatient): boolean;
	/** Applies it to the working set. @throws Failure when it is refused */
	apply(context: ApplyContext, change: C, references: References): void;
	/** Applies all changes of its kind at once; messages of this kind hold no other changes. @throws Failure when one of them is refused */
	applyTogether?(context: ApplyContext, changes: readonly C[]): void;
}

export function defineChange<C extends AnyChange>(kind: ChangeKind<C>): ChangeKind<C> {
	return kind;
}
