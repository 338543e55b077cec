import { Failure } from '#core/failure.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import { heldContentOf, type ResourceChange } from '#record/kinds/resource.ts';
import { rowIdOf } from '#record/row-id.ts';
import { matchesOf } from '#storage/condition.ts';
import type { Connection } from '#storage/connection.ts';
import type { ReadSet } from '#storage/read-set.ts';
import { changeSetOf, type Prepared } from './prepared.ts';

/**
 * Looks up the matches of a message's conditions, and the references of its patches. The site's turn is taken, so nobody else can change
 * the
 * result before the transaction ends. So two senders with the same condition cannot both find nothing.
 */
export async function lookUp(message: Prepared, connection: Connection, readSet: ReadSet): Promise<void> {
	const { siteId } = message.delivery;
	const changes = (changeSetOf(message)?.changes ?? []).filter((change) => change.kind === 'resource');
	await Promise.all(
		changes.map(async (change) => {
			const references = change.interaction === 'delete' ? [] : change.references;
			const conditions = change.condition ? [change.condition, ...references] : references;
			await Promise.all(
				conditions.map(async (condition) => {
					condition.matched = await matchesOf(connection, siteId, condition.plan);
				}),
			);
			if (change.interaction === 'patch') change.patients = await patchedPatients(change, siteId, connection, readSet);
		}),
	);
}

/**
 * Returns the patients to which a patched resource will refer. They are known only after patching; whether the patch works is decided in
 * its turn.
 */
async function patchedPatients(change: ResourceChange, siteId: string, connection: Connection, readSet: ReadSet): Promise<string[]> {
	const id = change.id ?? change.condition?.matched?.ids[0] ?? '';
	const rowId = rowIdOf(id);
	const keys = new SiteKeys();
	keys.addRow(change.resourceType, rowId);
	const sets = await readSet.read(connection, new Map([[siteId, keys]]));
	const held = sets.get(siteId)?.row(change.resourceType, rowId);
	if (held === undefined) return [];
	try {
		const composed = change.compose(heldContentOf(held), new Map());
		return composed.patients.map((patient) => patient.rowId);
	} catch (error) {
		if (error instanceof Failure) return [];
		throw error;
	}
}
