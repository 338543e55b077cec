import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { newId, nilId } from '#core/id.ts';
import { migrate } from '#storage/migrate.ts';
import { testDatabase } from '#test/support/database.ts';

test('messages that were logged before their kind was are given it, once', async () => {
	await using database = await testDatabase();
	const client = new pg.Client({ connectionString: database.url });
	await client.connect();
	await client.query('alter table message_log drop column kind');
	await client.query("delete from mikro_orm_migrations where name = '0021-message-kind'");
	const logged: [surface: string, type: string, kind: string][] = [
		['mllp', 'ADT^A08', 'hl7v2'],
		['mllp', '', 'hl7v2'],
		['mllp', 'MPPS COMPLETED', 'hl7v2'],
		['mllp', 'PUT Patient', 'hl7v2'],
		['hl7-http', 'ORU^R01', 'hl7v2'],
		['hl7-http', 'MPPS', 'hl7v2'],
		['hl7-http', 'PRPA_IN201301UV02', 'hl7v3'],
		['hl7-http', 'HL7v3', 'hl7v3'],
		['hl7-http', 'CDA 34133-9', 'hl7v3'],
		['hl7-http', 'CDA', 'hl7v3'],
		['fhir', 'POST Bundle', 'fhir'],
		['fhir', 'PATCH Patient', 'fhir'],
		['mpps', 'MPPS COMPLETED', 'mpps'],
		['mpps', 'MPPS', 'mpps'],
		['dimse', 'MPPS N-CREATE', 'mpps'],
		['dimse', 'C-STORE', 'instance'],
		['dicomweb', 'C-STORE', 'instance'],
		['dimse', 'conflict settle', 'conflict'],
		['administration', 'PATIENT MERGE', 'identity'],
		['administration', 'PATIENT UNMERGE', 'identity'],
		['replay', 'ADT^A28', 'hl7v2'],
		['replay', '', 'hl7v2'],
		['replay', 'PUT Patient', 'fhir'],
		['replay', 'MPPS N-SET', 'mpps'],
		['replay', 'PRPA_IN201301UV02', 'hl7v3'],
	];
	for (const [surface, type, kind] of logged) {
		await client.query(
			`insert into message_log (site_id, id, sequence, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, bytes, ack)
			values ($1, $2, 1, $3, $4, $5, now(), now(), $6, '', 'refused', '', '')`,
			[newId(), newId(), surface, nilId, kind, type],
		);
	}
	assert.deepEqual(await migrate(database.url), { applied: ['0021-message-kind'], newer: [] });
	const { rows } = await client.query('select surface, message_type, kind from message_log order by id');
	assert.deepEqual(
		rows.map((row) => [row.surface, row.message_type, row.kind]),
		logged,
	);
	await client.end();
});
