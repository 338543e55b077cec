import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MllpSite } from '#test/support/mllp-site.ts';
import type { FhirBody } from '#test/support/service.ts';

describe('delimiters that a sender did not escape', () => {
	let site: MllpSite;
	let sent = 0;

	before(async () => {
		site = await MllpSite.open();
	});

	after(() => site[Symbol.asyncDispose]());

	/** Sends a message about a patient of its own; returns the patient's number and the codes of the flags. */
	async function send(type: string, segments: string[], patient = `U${++sent}`): Promise<{ patient: string; flags: string[] }> {
		const controlId = `C${++sent}`;
		const head = `MSH|^~\\&|LAB|FAC|R|RF|20240105120000+0100||${type}|${controlId}|P|2.5.1`;
		return { patient, flags: await site.send(controlId, head, `PID|1||${patient}||Doe^Jane`, ...segments) };
	}

	async function observed(...obx: string[]): Promise<{ found: FhirBody[]; flags: string[] }> {
		const { patient, flags } = await send('ORU^R01', [`OBR|1||F${sent}|P^Panel^L|||20240105`, ...obx]);
		return { found: await site.all('Observation', patient), flags };
	}

	for (const { type, value, expected } of [
		{ type: 'NM', value: '10^5', expected: '10^5 CFU/mL' },
		{ type: 'NM', value: '>10^5', expected: '>10^5 CFU/mL' },
		{ type: 'NM', value: '5&7', expected: '5&7 CFU/mL' },
		{ type: 'SN', value: '>^10^5', expected: '>^10^5 CFU/mL' },
		{ type: 'CQ', value: '10^5', expected: '10^5 CFU/mL' },
	]) {
		test(`a number with more behind it is no number: ${type} ${value}`, async () => {
			const { found, flags } = await observed(`OBX|1|${type}|C^Count^L||${value}|CFU/mL|||||F`);
			assert.equal(found[0]?.valueString, expected);
			assert.deepEqual(flags, ['unreadable-value']);
		});
	}

	test('a unit behind a number is kept', async () => {
		const { found, flags } = await observed('OBX|1|NM|C^Count^L||5^mg/dL||||||F');
		const { extension: _, ...quantity } = found[0]?.valueQuantity ?? {};
		assert.deepEqual(quantity, { value: 5, unit: 'mg/dL' });
		assert.deepEqual(flags, ['unreadable-value']);
	});

	test('a second time is not lost, and TS-2 is no second time', async () => {
		const { found } = await observed('OBX|1|TS|C^Stay^L||20240105^20240107||||||F', 'OBX|2|TS|D^Day^L||202401^L||||||F');
		assert.deepEqual(
			found.map(({ valueString, valueDateTime }) => valueString ?? valueDateTime),
			['20240105 20240107', '2024-01'],
		);
	});

	test('codes that share what stands before `&` are two results', async () => {
		const { patient } = await send('ORU^R01', ['OBR|1||T1|X^X^L|||20240105', 'OBX|1|ST|T&S^Type & screen^L||negative||||||F']);
		await send('ORU^R01', ['OBR|1||T1|X^X^L|||20240105', 'OBX|1|ST|T&C^Crossmatch^L||incompatible||||||F'], patient);
		const found = await site.all('Observation', patient);
		assert.deepEqual(
			found.map(({ code, valueString }) => [code.coding[0].code, code.text, valueString]),
			[
				['T&S', 'Type & screen', 'negative'],
				['T&C', 'Crossmatch', 'incompatible'],
			],
		);
	});

	test('diagnoses, allergens and reactions are read to their ends', async () => {
		const { patient } = await send('ADT^A01', [
			'PV1|1|I|||||||||||||||||V1',
			'AL1|1|FA|^Nuts & seeds||Rash & fever',
			'AL1|2|FA|^Nuts & raisins||Rash',
			'DG1|1|||Nausea & vomiting|20240101|A',
			'DG1|2|||Nausea & dizziness|20240101|A',
		]);
		const allergies = await site.all('AllergyIntolerance', patient);
		assert.deepEqual(
			allergies.map(({ code, reaction }) => [code.text, reaction[0].manifestation[0].text]),
			[
				['Nuts & seeds', 'Rash & fever'],
				['Nuts & raisins', 'Rash'],
			],
		);
		assert.deepEqual(
			(await site.all('Condition', patient)).map(({ code }) => code.text),
			['Nausea & vomiting', 'Nausea & dizziness'],
		);
	});

	test('a document that is not encoded and a link are kept to their ends', async () => {
		const page = '<p>a&nbsp;b</p><p>2^3 = 8</p>';
		const link = 'https://pacs.example/viewer?acc=1&study=1.2.3&x=4';
		const { found } = await observed(
			`OBX|1|ED|R^Report^L||^text^html^A^${page}||||||F`,
			`OBX|2|RP|L^Link^L||${link}^PACS^TEXT^HTML||||||F`,
		);
		const [document, pointer] = found.map(({ extension }) => extension[0].valueAttachment);
		assert.equal(Buffer.from(document.data, 'base64').toString(), page);
		assert.equal(pointer.url, link);
	});
});

describe('what one message states twice', () => {
	let site: MllpSite;

	before(async () => {
		site = await MllpSite.open();
	});

	after(() => site[Symbol.asyncDispose]());

	const head = (type: string, controlId: string) => `MSH|^~\\&|LAB|FAC|R|RF|20240105120000+0100||${type}|${controlId}|P|2.5.1`;

	test('two texts of other times or observers are two observations; lines of one keep their interpretations', async () => {
		await site.send(
			...['N1', head('ORU^R01', 'N1'), 'PID|1||N1', 'OBR|1||F1|P^Panel^L'],
			'OBX|1|TX|NOTE^Note^L||calm||||||F|||20240105080000+0100||1^Day^D',
			'OBX|2|TX|NOTE^Note^L||agitated,|||A|||F|||20240105220000+0100||2^Night^N',
			'OBX|3|TX|NOTE^Note^L||fell|||HH|||F|||20240105220000+0100||2^Night^N',
		);
		const found = await site.all('Observation', 'N1');
		assert.deepEqual(
			found.map(({ valueString, effectiveDateTime, performer, interpretation = [] }) => [
				...[valueString, effectiveDateTime, performer[0].identifier.value],
				interpretation.map((one: FhirBody) => one.coding.at(-1).code),
			]),
			[
				['calm', '2024-01-05T08:00:00+01:00', '1', []],
				['agitated,\nfell', '2024-01-05T22:00:00+01:00', '2', ['A', 'HH']],
			],
		);
	});

	test('the authority of one number of a specimen is not that of the other', async () => {
		await site.send(
			...['S1', head('ORU^R01', 'S1'), 'PID|1||S1', 'OBR|1||F2|P^Panel^L', 'OBX|1|ST|A^A^L||x||||||F'],
			'SPM|1|P123&PLACERNS&1.2.3&ISO^F456&FNS||BLD^Blood^L',
		);
		const [first] = await site.all('Observation', 'S1');
		assert.deepEqual(first?.specimen.identifier, { system: 'urn:id:FNS', value: 'F456' });
	});

	test('a visit whose class is deleted in its first message has the class that is unknown', async () => {
		await site.send('V1', head('ADT^A01', 'V1'), 'PID|1||V1', `PV1|1|""${'|'.repeat(17)}V1`);
		const [visit] = await site.all('Encounter', 'V1');
		assert.equal(visit?.class.code, 'UNK');
		assert.equal((await site.call('PUT', `/Encounter/${visit?.id}`, visit)).status, 200);
	});
});
