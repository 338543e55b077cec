import assert from 'node:assert/strict';
import { addClient } from '#administration/clients.ts';
import { newId } from '#core/id.ts';
import { adt } from './adt.ts';
import { eventually } from './eventually.ts';
import { opened } from './images.ts';
import type { TestService } from './service.ts';
import { ctInstance, StorageScu } from './storage-scu.ts';

/** Gives the site `north` what the examples do not make: a refused message, a procedure step, an export, a study and a conflict. */
export async function fillNorth(service: TestService, key: string): Promise<void> {
	const send = (surface: string, path: string, type: string, body: string) =>
		fetch(`http://127.0.0.1:${service.port(surface)}${path}`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': type },
			body,
		});
	await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
	assert.equal((await send('hl7', '/v2/ingest', 'text/plain', adt('1', 'A', 1, 'A28'))).status, 422);
	// A message that came before anybody knew its sender.
	await addClient(service.administration, { site: 'north', name: 'Early', protocols: ['hl7-mllp'], allowed_ips: ['198.51.100.99'] });
	await service.rows(
		`insert into unmatched_message (id, received_at, surface, source, reason, message_type, control_id, bytes, site_id, sending_application, sending_facility)
		select $1, now(), 'mllp', '198.51.100.99', 'no-sender', 'ADT^A08', 'early', $2, id, 'ADT', 'HOSPITAL' from site where slug = 'north'`,
		[newId(), Buffer.from(adt('early', '4713', 'Early'))],
	);
	for (const id of ['4711', '4712']) assert.equal((await send('hl7', '/v2/ingest', 'text/plain', adt(id, id, 'Doe'))).status, 200);
	const step = { sop_instance_uid: '1.2.826.0.1.9', study_uid: '1.2.826.0.1.2', status: 'COMPLETED' };
	assert.equal((await send('mpps', '/ingest', 'application/json', JSON.stringify(step))).status, 200);
	const asked = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/$export?_type=Patient`, {
		headers: { 'X-API-Key': key, Prefer: 'respond-async' },
	});
	assert.equal(asked.status, 202);
	await opened(service, 'north');
	const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
	const image = { sopInstanceUid: '1.2.826.0.1.2.1', studyUid: '1.2.826.0.1.2' };
	for (const patientId of ['P-1', 'P-2']) await scu.store(ctInstance({ ...image, patientId }));
	await scu.store(ctInstance({ ...image, patientId: 'P-1', sopInstanceUid: '1.2.826.0.1.2.2' }));
	await scu.store(
		ctInstance({ sopInstanceUid: '1.2.826.0.1.3.1', studyUid: '1.2.826.0.1.3', seriesUid: '1.2.826.0.1.3.0', patientId: 'P-1' }),
	);
	await scu.release();
}
