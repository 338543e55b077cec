import assert from 'node:assert/strict';
import { placeHold } from '#administration/holds.ts';
import { createKey } from '#administration/keys.ts';
import { carryRetentionOut } from '#administration/retention.ts';
import { dataSetOffset } from '#dicom/part10.ts';
import { explicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { type SampleImage, sampleImage } from '../../src/demo/image.ts';
import { ctStorage } from './data-set.ts';
import { opened } from './images.ts';
import { eventually, type TestService } from './service.ts';
import { type SentInstance, StorageScu } from './storage-scu.ts';

/** Nobody of these exists. */
const people = [
	['70411', 'Okafor^Ngozi', '19580314', 'F'],
	['70412', 'Lindqvist^Maja', '19911102', 'F'],
	['70413', 'Brandt^Tobias', '19470729', 'M'],
	['70414', 'Ferreira^Luis', '20020518', 'M'],
	['70415', 'Nakamura^Aiko', '19760106', 'F'],
	['70416', 'Novak^Petr', '19650923', 'M'],
] as const;

function head(application: string, type: string, id: string, day: number): string {
	return `MSH|^~\\&|${application}|NORTH|TRIBUTARY|NORTH|202601${String(day).padStart(2, '0')}0815||${type}|${id}|P|2.5.1`;
}

function patientIdentification([mrn, name, birth, gender]: (typeof people)[number]): string {
	return `PID|1||${mrn}^^^MRN^MR||${name}||${birth}|${gender}|||12 Quay Street^^Northport^^4711`;
}

/** Haemoglobin and potassium of a patient, day by day. */
function laboratory(person: (typeof people)[number], day: number): string {
	const haemoglobin = (11.2 + 1.6 * Math.sin(day)).toFixed(1);
	const potassium = (4.1 + 0.5 * Math.cos(day)).toFixed(1);
	return [
		head('LAB', 'ORU^R01', `LAB-${person[0]}-${day}`, day),
		patientIdentification(person),
		`OBR|1||F${day}|58410-2^CBC panel^LN|||202601${String(day).padStart(2, '0')}0730`,
		`OBX|1|NM|718-7^Hemoglobin^LN||${haemoglobin}|g/dL|12.0-15.5|||N|F`,
		`OBX|2|NM|2823-3^Potassium^LN||${potassium}|mmol/L|3.5-5.1|||N|F`,
	].join('\r');
}

/** What the hospitals of `inventNetwork` send on a day: admissions, results, what is refused, images. */
export async function inventMessages(service: TestService): Promise<void> {
	const { key } = await createKey(service.administration, { site: 'north', owner: 'ann.weiss@example.org', label: 'Interface engine' });
	const send = async (message: string) => {
		const headers = { 'X-API-Key': key, 'Content-Type': 'text/plain' };
		return (await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, { method: 'POST', headers, body: message })).status;
	};
	await eventually(async () => (await service.fhir('/fhir/Patient', key)).status === 200, 'the key');
	for (const [index, person] of people.entries()) {
		const visit = `PV1|1|I|WARD${index + 1}^12^1${'|'.repeat(16)}V${person[0]}`;
		const status = await send([head('ADT', 'ADT^A01', `ADT-${person[0]}`, 5), patientIdentification(person), visit].join('\r'));
		assert.equal(status, 200, person[0]);
	}
	for (let day = 5; day < 12; day++) assert.equal(await send(laboratory(people[0], day)), 200);
	for (const day of [6, 7, 8]) {
		assert.equal(await send([head('ADT', 'ADT^A28', `ADT-A28-${day}`, day), patientIdentification(people[1])].join('\r')), 422);
	}
	assert.equal(await send([head('LAB', 'ORU^R01', 'LAB-WITHOUT', 9), 'OBX|1|NM|718-7^Hemoglobin^LN||12|g/dL|||||F'].join('\r')), 422);
	const overlay = patientIdentification(['70412', 'Haddad^Karim', '19530811', 'M'] as never);
	await send([head('ADT', 'ADT^A08', 'ADT-OVERLAY', 10), overlay].join('\r'));
	await inventImages(service);
}

/** The images of each study. */
const slices = 9;

function sliceOf(given: SampleImage): SentInstance {
	const file = sampleImage(given);
	return {
		sopClassUid: ctStorage,
		sopInstanceUid: `${given.studyUid}.1.${given.number}`,
		transferSyntaxUid: explicitLittleEndian,
		dataSet: file.subarray(dataSetOffset(file)),
	};
}

async function inventImages(service: TestService): Promise<void> {
	await opened(service, 'north');
	const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH', calling: 'CT02' });
	for (const [index, [patientId, patientName]] of people.entries()) {
		const studyUid = `2.999.1.${index + 1}`;
		for (let number = 1; number <= slices; number++) await scu.store(sliceOf({ studyUid, patientId, patientName, number, of: slices }));
	}
	await scu.store(sliceOf({ studyUid: '2.999.1.1', patientId: '70415', patientName: 'Nakamura^Aiko', number: 1, of: 1 }));
	await scu.release();
	await placeHold(service.administration, { site: 'north', study: '2.999.1.2', reason: 'File 12/2026' });
	await carryRetentionOut(service.administration);
}
