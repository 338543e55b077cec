import { items } from '#record/holdings/items.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { ResourceRows, ResourceTables } from '../resource-rows.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/** Finds the rows of patients under the given item keys. */
export function findItems(rows: ResourceRows): Statement {
	const { table } = rows.shape;
	return {
		name: `find_${table}_items`,
		text: `
select ${rows.columns('r')}
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as k (site_id, patient_id, item_key)
join ${table} r on r.site_id = k.site_id and r.patient_id = k.patient_id and r.item_key = k.item_key`,
	};
}

/** Reads items. It runs after the patients are read, because only then the patient of an item is known. */
export function storedItems(tables: ResourceTables): StoredHolding {
	const withItems = tables.all().filter(({ shape: { resourceType, links } }) => {
		return resourceType !== 'Observation' && links.some(({ name }) => name === 'item_key');
	});
	const statements = new Map(withItems.map((rows) => [rows.shape.resourceType, findItems(rows)]));
	return {
		async readOfPatients(reading) {
			const wanted = new Map<ResourceType, { siteIds: string[]; patientIds: string[]; items: string[] }>();
			for (const { siteId, set, keys } of reading.naming(items)) {
				for (const { resourceType, identifierValues, item } of keys) {
					for (const patientId of set.of(patientIdentifiers).patientsOf(identifierValues)) {
						const columns = wanted.get(resourceType) ?? { siteIds: [], patientIds: [], items: [] };
						wanted.set(resourceType, columns);
						columns.siteIds.push(siteId);
						columns.patientIds.push(patientId);
						columns.items.push(item);
					}
				}
			}
			const reads = [...wanted].map(async ([type, { siteIds, patientIds, items: keys }]) => {
				const statement = statements.get(type);
				if (statement === undefined) throw new Error(`${type} has no items`);
				const table = tables.of(type);
				const rows = await reading.run(statement, [plainArray(siteIds), plainArray(patientIds), textArray(keys)]);
				for (const cells of rows) reading.setOf(cells).of(items).addStored(table.rowOf(cells));
			});
			await Promise.all(reads);
		},
	};
}
