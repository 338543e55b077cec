import { newId } from '#core/id.ts';
import { type EntityManager, runInTransaction } from '#storage/entities/index.ts';
import { insertConfigurationApply } from '#storage/statements/administrative/configuration.ts';
import { lockAccessVersion } from '#storage/statements/administrative/read-access.ts';
import { AdministrationError, change, type OperationContext } from '../context.ts';
import { CarryingOut, type MadeSecret } from './carry-out.ts';
import { type Comparison, compare, type Difference } from './difference.ts';
import { digestOf, documentOf, placeOf, type Scope, textOf, type Value } from './document.ts';
import { readState, type State } from './state.ts';

/** Says what the things of a scope are to be. */
export interface Wish {
	scope: Scope;
	/** Tells by the present state what things are to be. */
	wanted(state: State): ReadonlyMap<string, Value>;
	isPruned(place: string): boolean;
	confirmOverlap: boolean;
	/** The digest of the state that a plan was made of. */
	expect: string | undefined;
	/** The apply that this one takes back. */
	rollsBack?: string;
}

export interface Applied extends Comparison {
	/** Undefined if nothing was to be done. */
	id: string | undefined;
	secrets: MadeSecret[];
	/** Digests of the state before and after. */
	before: string;
	after: string;
}

/** A touched thing as it was before an apply and after it; null: it was not there. */
export interface Touched {
	path: readonly string[];
	action: Difference['action'];
	before: Value | null;
	after: Value | null;
}

/** Only the latest applies can be rolled back, because each holds a whole state. */
const appliesMax = 100;

/** Everything is written, and nothing of it is to stay. */
class Rehearsed extends Error {}

/**
 * Makes a state what is wished, in one transaction: all of it or nothing. Each change is an operation with its own audit event. Changes of
 * other people come before or after it.
 * @throws AdministrationError as the operation does that refuses, or `conflict` if the state is not the expected one
 */
export async function applied(context: OperationContext, wish: Wish): Promise<Applied> {
	const result = await inOneTransaction(context, async (within, em) => carryOut(within, em, wish, await seen(within, em, wish)));
	if (result.id !== undefined) await context.accessChanged();
	return result;
}

/** Tries the same, takes it back, and tells what would come of it. */
export async function rehearsed(context: OperationContext, wish: Wish): Promise<Applied & { refusal: string | undefined }> {
	let told: Seen | undefined;
	let result: Applied | undefined;
	let refusal: string | undefined;
	try {
		await inOneTransaction(context, async (within, em) => {
			told = await seen(within, em, wish);
			result = await carryOut(within, em, wish, told);
			throw new Rehearsed();
		});
	} catch (error) {
		if (error instanceof AdministrationError && told !== undefined) refusal = error.message;
		else if (!(error instanceof Rehearsed)) throw error;
	}
	if (told === undefined) throw new Error('the state was not read');
	const { comparison, before } = told;
	return { ...comparison, id: undefined, secrets: [], before, after: result?.after ?? before, refusal };
}

/** The transaction of the unit of work is that of every change inside; none of them is in force before all are. */
export function inOneTransaction<T>(
	context: OperationContext,
	work: (within: OperationContext, em: EntityManager) => Promise<T>,
): Promise<T> {
	return context.em.fork().transactional((em) => {
		const entities = { fork: () => em.fork({ keepTransactionContext: true }) };
		return work({ ...context, em: entities, accessChanged: () => Promise.resolve() }, em);
	});
}

export function valuesOf({ things }: State): Map<string, Value> {
	return new Map([...things].filter(([, { isCarried }]) => isCarried).map(([place, { value }]) => [place, value]));
}

/** The state before an apply, its digest, and how it differs from the wish. */
interface Seen {
	state: State;
	before: string;
	comparison: Comparison;
}

/** @throws AdministrationError `conflict` if the state is not the expected one */
async function seen(context: OperationContext, em: EntityManager, { scope, expect, wanted, isPruned }: Wish): Promise<Seen> {
	await runInTransaction(em, lockAccessVersion, []);
	const state = await readState(context, em, scope);
	const before = digestOf(valuesOf(state), scope);
	if (expect !== undefined && expect !== before) {
		throw new AdministrationError(
			`the state is ${before}, not ${expect}: somebody has changed something since the plan`,
			'conflict',
			'expect',
		);
	}
	return { state, before, comparison: compare(state, wanted(state), isPruned) };
}

async function carryOut(context: OperationContext, em: EntityManager, wish: Wish, { state, before, comparison }: Seen): Promise<Applied> {
	const { scope } = wish;
	if (comparison.differences.length === 0) return { ...comparison, id: undefined, secrets: [], before, after: before };
	const carrying = new CarryingOut(context, wish.confirmOverlap);
	await carrying.all(comparison.differences);
	const now = await readState(context, em, scope);
	const id = await keep(context, wish, comparison.differences, { before: state, after: now });
	return { ...comparison, id, secrets: carrying.secrets, before, after: digestOf(valuesOf(now), scope) };
}

async function keep(
	context: OperationContext,
	{ scope, rollsBack }: Wish,
	differences: readonly Difference[],
	states: { before: State; after: State },
): Promise<string> {
	const valueIn = ({ things }: State, path: readonly string[]) => things.get(placeOf(...path))?.value ?? null;
	const changes = differences.map(
		({ path, action }): Touched => ({ path, action, before: valueIn(states.before, path), after: valueIn(states.after, path) }),
	);
	const id = newId(context.nowMs());
	const at = new Date(context.nowMs()).toISOString();
	const text = textOf(documentOf(valuesOf(states.before), scope));
	return change(context, async (em) => {
		const values = [id, at, context.actor.name, text, JSON.stringify({ scope, changes }), rollsBack ?? null, appliesMax];
		await runInTransaction(em, insertConfigurationApply, values);
		const after = { changes: differences.length, ...(rollsBack !== undefined && { rolls_back: rollsBack }) };
		return [id, { action: rollsBack === undefined ? 'config.apply' : 'config.rollback', subject: id, siteId: null, after }];
	});
}
