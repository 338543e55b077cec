import type { Identifier } from '../resource-patch.ts';
import type { ApplyContext } from './context.ts';
import type { References } from './references.ts';
import type { SiteKeys } from './site-keys.ts';

/** A change of any kind, as far as the others of its message have to know it. */
export interface AnyChange {
	readonly kind: string;
}

/** How a change names a patient. */
export interface NamedPatient {
	/** The other changes of the message point at the patient by it. */
	ref: number;
	/** The first is the business identifier, by which the patient is matched. */
	identifiers: [Identifier, ...Identifier[]];
	/** Where its first identifier stands in a format without segments (XPath). */
	expression?: string;
}

/** What is true of a kind of change. Everything that asks about kinds asks the table of them (`kinds/index.ts`). */
export interface ChangeKind<C extends AnyChange> {
	readonly kind: C['kind'];
	/** Names what has to be read before the change is applied. */
	keys(change: C, keys: SiteKeys, message: readonly AnyChange[]): void;
	/** Its message is applied alone: it moves rows by statement, or what it needs is found through what stands in the database. */
	readonly alone?: true;
	/** Whether it asks for what only a search in the site's turn can tell. */
	needsLookup?(change: C): boolean;
	/** Values of the business identifiers of whom it is about, by which the message log is searched. */
	patients?(change: C): readonly string[];
	/** Whether the patient of its message, who may be known, stays as he is. */
	keepsPatient?(context: ApplyContext, change: C, patient: NamedPatient): boolean;
	/** Applies it to the working set. @throws Failure when it is refused */
	apply(context: ApplyContext, change: C, references: References): void;
	/** Applies all changes of its kind, of which alone its messages consist, at once. @throws Failure when one of them is refused */
	applyTogether?(context: ApplyContext, changes: readonly C[]): void;
}

export function defineChange<C extends AnyChange>(kind: ChangeKind<C>): ChangeKind<C> {
	return kind;
}
