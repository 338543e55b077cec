import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { addRemoteAe } from '#administration/remote-aes.ts';
import { setSite } from '#administration/sites.ts';
import { readFileMeta } from '#dicom/part10.ts';
import { dicomFile, run, startStorescp, temporaryFolder } from '#test/support/dcmtk.ts';
import { without } from '#test/support/needs.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';

interface Given {
	uid: string;
	study?: string;
	patient?: string;
	name?: string;
	characterSet?: string;
	modality?: string;
	date?: string;
}

function lines({
	uid,
	study = '1.2.1',
	patient = 'P1',
	name = 'Lovemore^Ada',
	characterSet = 'ISO_IR 100',
	modality = 'CT',
	date = '20240131',
}: Given) {
	return [
		`(0008,0005) CS [${characterSet}]`,
		modality === 'MR' ? '(0008,0016) UI =MRImageStorage' : '(0008,0016) UI =CTImageStorage',
		`(0008,0018) UI [${uid}]`,
		`(0008,0020) DA [${date}]`,
		'(0008,0030) TM [101500]',
		`(0008,0050) SH [ACC-${study}]`,
		`(0008,0060) CS [${modality}]`,
		`(0010,0010) PN [${name}]`,
		`(0010,0020) LO [${patient}]`,
		'(0010,0030) DA [18151210]',
		'(0010,0040) CS [F]',
		`(0020,000d) UI [${study}]`,
		`(0020,000e) UI [${study}.1]`,
		'(0020,0011) IS [3]',
		'(0020,0013) IS [1]',
		'(7fe0,0010) OW 0001\\0002\\0003\\0004',
	];
}

/** The data set of a DICOM file. */
function dataSetOf(path: string): Buffer {
	const bytes = readFileSync(path);
	return bytes.subarray(readFileMeta(bytes).dataSetOffset);
}

describe('queries and retrievals of DCMTK', { skip: without('dcmtk') }, () => {
	const folder = temporaryFolder();
	let service: TestService;
	const files: string[] = [];
	const peer = (aeTitle: string, called: string) => ['-aet', aeTitle, '-aec', called, '127.0.0.1', String(service.port('dimse'))];

	let key = '';

	/** What was received is, byte for byte, one of the files that were sent. */
	function assertSame(path: string): void {
		const uid = /((?:\d+\.)+\d+)/.exec(basename(path))?.[1];
		const source = files.find((file) => file.endsWith(`/${uid}.dcm`)) ?? assert.fail(path);
		assert.deepEqual(dataSetOf(path), dataSetOf(source));
	}

	async function addSite(slug: string): Promise<string> {
		const { key: created } = await service.addSite(slug);
		await setSite(service.administration, { slug, ae_title: slug.toUpperCase() });
		const client = { site: slug, protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'] };
		await addClient(service.administration, { ...client, name: 'sender', calling_ae: 'MODALITY' });
		await addClient(service.administration, { ...client, name: 'workstation', calling_ae: 'FINDER', grants: ['query'] });
		return created;
	}

	before(async () => {
		service = await testService();
		key = await addSite('west');
		await addSite('east');
		const make = async (given: Given, ...options: string[]) => {
			const file = await dicomFile(folder.path, given.uid, lines(given), ...options);
			files.push(file);
			return file;
		};
		const west = [
			await make({ uid: '1.2.1.1.1' }),
			await make({ uid: '1.2.1.1.2' }),
			await make({ uid: '1.2.2.1.1', study: '1.2.2', modality: 'MR', date: '20240301' }),
			await make({ uid: '1.2.3.1.1', study: '1.2.3', patient: 'P2', name: 'Müller^Jörg' }),
			await make({
				uid: '1.2.5.1.1',
				study: '1.2.5',
				patient: 'P5',
				name: 'Yamada^Tarou=山田^太郎=やまだ^たろう',
				characterSet: 'ISO_IR 192',
			}),
			await make({ uid: '1.2.4.1.1', study: '1.2.4', patient: 'P3', name: 'Łukasz^山田', characterSet: 'ISO_IR 192' }),
		];
		const east = await make({ uid: '1.9.1.1.1', study: '1.9.1', patient: 'P1', name: 'Other^Person' });
		await eventually(async () => (await run('echoscu', ...peer('FINDER', 'EAST'))).code === 0, 'the AE titles');
		for (const [called, sent] of [
			['WEST', west],
			['EAST', [east]],
		] as const) {
			const stored = await run('storescu', ...peer('MODALITY', called), ...sent);
			assert.equal(stored.code, 0, stored.output);
		}
	});

	after(async () => {
		await service?.[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** What findscu was answered, as a text for each match. */
	async function find(called: string, model: '-S' | '-P', level: string, ...keys: string[]) {
		const parameters = ['-v', model, ...peer('FINDER', called), '-k', `QueryRetrieveLevel=${level}`];
		const { code, output } = await run('findscu', ...parameters, ...keys.flatMap((key) => ['-k', key]));
		const responses = output.split(/^I: Find Response: /m).slice(1);
		return { code, output, responses: responses.filter((text) => /^\d+ \(Pending/.test(text)) };
	}

	test('C-FIND finds the studies of the site alone, by both information models', async () => {
		const all = await find('WEST', '-S', 'STUDY', 'StudyInstanceUID', 'PatientName', 'ModalitiesInStudy', 'NumberOfStudyRelatedInstances');
		assert.equal(all.responses.length, 5, all.output);
		const [first = ''] = all.responses;
		for (const line of [
			'(0008,0052) CS [STUDY ]',
			'(0008,0054) AE [WEST]',
			'(0008,0061) CS [CT]',
			'(0010,0010) PN [Lovemore^Ada]',
			'(0020,000d) UI [1.2.1',
			'(0020,1208) IS [2 ]',
		]) {
			assert.ok(first.includes(line), `${line}\n${first}`);
		}
		const east = await find('EAST', '-S', 'STUDY', 'StudyInstanceUID', 'PatientID=P1');
		assert.equal(east.responses.length, 1, east.output);
		assert.ok(east.responses[0]?.includes('[1.9.1'), east.output);
		const patients = await find('WEST', '-P', 'PATIENT', 'PatientID', 'PatientName=lovemore*');
		assert.equal(patients.responses.length, 1, patients.output);
		const series = await find('WEST', '-P', 'SERIES', 'PatientID=P1', 'StudyInstanceUID=1.2.2', 'SeriesInstanceUID', 'Modality=MR');
		assert.equal(series.responses.length, 1, series.output);
		const images = await find('WEST', '-S', 'IMAGE', 'StudyInstanceUID=1.2.1', 'SeriesInstanceUID=1.2.1.1', 'SOPInstanceUID');
		assert.equal(images.responses.length, 2, images.output);
		const dated = await find('WEST', '-S', 'STUDY', 'StudyInstanceUID', 'StudyDate=20240201-');
		assert.equal(dated.responses.length, 1, dated.output);
	});

	test('an identifier that does not fit the information model is refused with 0xA900', async () => {
		for (const [model, level, ...keys] of [
			['-S', 'PATIENT', 'PatientID'],
			['-S', 'SERIES', 'SeriesInstanceUID'],
			['-P', 'STUDY', 'StudyInstanceUID'],
			['-P', 'STUDY', 'PatientID=P*', 'StudyInstanceUID'],
			['-S', 'NONSENSE'],
			['-S', 'STUDY', 'StudyDate=yesterday'],
		] as const) {
			const { output, responses } = await find('WEST', model, level, ...keys);
			assert.equal(responses.length, 0, output);
			assert.match(output, /DataSetDoesNotMatchSOPClass|0xa900/i, `${level} ${keys}`);
		}
	});

	test('answers come in the character set of the question where it has the characters, else in UTF-8', async () => {
		const name = async (id: string, ...keys: string[]) => {
			const { responses, output } = await find('WEST', '-S', 'STUDY', `PatientID=${id}`, 'PatientName', ...keys);
			assert.ok(responses.length > 0, output);
			return /\(0008,0005\) CS \[(.*?) *\]/.exec(String(responses[0]))?.[1];
		};
		assert.equal(await name('P1', 'SpecificCharacterSet=ISO_IR 100'), undefined);
		assert.equal(await name('P2', 'SpecificCharacterSet=ISO_IR 100'), 'ISO_IR 100');
		assert.equal(await name('P2'), 'ISO_IR 192');
		assert.equal(await name('P3', 'SpecificCharacterSet=ISO_IR 100'), 'ISO_IR 192');
		const byName = await find('WEST', '-S', 'STUDY', 'SpecificCharacterSet=ISO_IR 192', 'PatientName=*MÜLLER*', 'PatientID');
		assert.equal(byName.responses.length, 1, byName.output);
	});

	test('a name is matched and shown by each of its component groups', async () => {
		const named = async (pattern: string, level: '-S' | '-P' = '-S') => {
			const keys = ['SpecificCharacterSet=ISO_IR 192', `PatientName=${pattern}`, 'PatientID'];
			const { responses } = await find('WEST', level, level === '-S' ? 'STUDY' : 'PATIENT', ...keys);
			return responses.map((text) => /\(0010,0010\) PN \[(.*?) *\]/.exec(text)?.[1]);
		};
		const yamada = ['Yamada^Tarou=山田^太郎=やまだ^たろう'];
		for (const pattern of ['yamada*', '=山田*', '==やまだ*', 'Yamada*=山田^太郎=*', '*=*=やまだ^たろう']) {
			assert.deepEqual(await named(pattern), yamada, pattern);
			assert.deepEqual(await named(pattern, '-P'), yamada, pattern);
		}
		for (const pattern of ['Yamada*=鈴木*', '=Yamada*', '=洪*', 'Suzuki*=山田*']) assert.deepEqual(await named(pattern), [], pattern);
		const headers = { 'X-API-Key': key, Accept: 'application/dicom+json' };
		const query = `PatientName=${encodeURIComponent('=山田*')}`;
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb/studies?${query}`, { headers });
		const [study] = (await answer.json()) as Record<string, { Value: unknown[] }>[];
		assert.deepEqual(study?.['00100010']?.Value, [{ Alphabetic: 'Yamada^Tarou', Ideographic: '山田^太郎', Phonetic: 'やまだ^たろう' }]);
		const found = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient?name=${encodeURIComponent('山田')}`, {
			headers: { 'X-API-Key': key },
		});
		const { entry } = (await found.json()) as { entry: { resource: { name: { family: string; extension: { valueCode: string }[] }[] } }[] };
		assert.deepEqual(
			entry[0]?.resource.name.map(({ family, extension }) => [family, extension[0]?.valueCode]),
			[
				['Yamada', 'ABC'],
				['山田', 'IDE'],
				['やまだ', 'SYL'],
			],
		);
	});

	test('C-GET gives back what was sent, byte for byte', async () => {
		const into = join(folder.path, 'got');
		mkdirSync(into);
		const got = await run(
			'getscu',
			'-v',
			'-S',
			'+B',
			'-od',
			into,
			...peer('FINDER', 'WEST'),
			'-k',
			'QueryRetrieveLevel=STUDY',
			'-k',
			'StudyInstanceUID=1.2.1\\1.2.2',
		);
		assert.equal(got.code, 0, got.output);
		const received = readdirSync(into);
		assert.equal(received.length, 3, got.output);
		for (const name of received) assertSame(join(into, name));
	});

	test('C-GET of which a sub-operation fails says how many, also to getscu, which leaves the list of them unread', async () => {
		const north = await addSite('north');
		await eventually(async () => (await run('echoscu', ...peer('FINDER', 'NORTH'))).code === 0, 'the AE title');
		const image = await dicomFile(folder.path, '1.8.1.1.1', lines({ uid: '1.8.1.1.1', study: '1.8.1' }));
		// getscu has no presentation context for a private SOP class, so this instance cannot be sent to it.
		const foreign = lines({ uid: '1.8.1.1.2', study: '1.8.1' }).map((line) => line.replace('=CTImageStorage', '[1.3.6.1.4.1.99999.1]'));
		files.push(image);
		for (const path of [image, await dicomFile(folder.path, '1.8.1.1.2', foreign)]) {
			const parts = ['--sample\r\nContent-Type: application/dicom\r\n\r\n', readFileSync(path), '\r\n--sample--\r\n'];
			const stored = await fetch(`http://127.0.0.1:${service.port('fhir')}/dicomweb/studies`, {
				method: 'POST',
				headers: { 'X-API-Key': north, 'Content-Type': 'multipart/related; type="application/dicom"; boundary=sample' },
				body: Buffer.concat(parts.map((part) => Buffer.from(part))),
			});
			assert.equal(stored.status, 200, await stored.text());
		}
		const into = join(folder.path, 'some');
		mkdirSync(into);
		const keys = ['-k', 'QueryRetrieveLevel=STUDY', '-k', 'StudyInstanceUID=1.8.1'];
		const got = await run('getscu', '-d', '-S', '+B', '-od', into, ...peer('FINDER', 'NORTH'), ...keys);
		const [, last = ''] = got.output.split(/(?=Remaining Suboperations +: none)/);
		assert.match(
			last,
			/Completed Suboperations +: 1\n.*Failed Suboperations +: 1\n.*Warning Suboperations +: 0\n.*Data Set +: present\n.*0xb000/,
		);
		const [received = '', ...others] = readdirSync(into);
		assert.deepEqual(others, []);
		assertSame(join(into, received));
		// PS3.4 C.4.3.1.3.2 asks for the list. DCMTK 3.6.7 does not read it, and so finds it in place of the answer to its release.
		assert.match(got.output, /Number of Failed Suboperations +: 1/);
		assert.match(got.output, /Releasing Association\n.*P-Data PDU arrived/);
		assert.equal((await run('echoscu', ...peer('FINDER', 'NORTH'))).code, 0);
	});

	test('C-MOVE sends to the remote AEs of the site, and to nobody else', async () => {
		const into = join(folder.path, 'moved');
		mkdirSync(into);
		await using archive = await startStorescp(into, '-aet', 'ARCHIVE');
		await addRemoteAe(service.administration, { site: 'west', title: 'ARCHIVE', host: '127.0.0.1', port: archive.port, tls: false });
		await addRemoteAe(service.administration, { site: 'west', title: 'NOBODY', host: '127.0.0.1', port: 1, tls: false });
		const move = (called: string, destination: string, ...keys: string[]) =>
			run('movescu', '-v', '-S', '-aem', destination, ...peer('FINDER', called), ...keys.flatMap((key) => ['-k', key]));
		const study = ['QueryRetrieveLevel=STUDY', 'StudyInstanceUID=1.2.1'];
		let moved = await move('WEST', 'ARCHIVE', ...study);
		// The registration takes effect within a second.
		await eventually(async () => {
			moved = await move('WEST', 'ARCHIVE', ...study);
			return !/MoveDestinationUnknown/.test(moved.output);
		}, 'the remote AE');
		assert.equal(moved.code, 0, moved.output);
		assert.match(moved.output, /Received Final Move Response \(Success\)/);
		const received = readdirSync(into);
		assert.equal(received.length, 2);
		for (const name of received) assertSame(join(into, name));
		const patient = await run(
			'movescu',
			'-v',
			'-P',
			'-aem',
			'ARCHIVE',
			...peer('FINDER', 'WEST'),
			'-k',
			'QueryRetrieveLevel=PATIENT',
			'-k',
			'PatientID=P2',
		);
		assert.equal(patient.code, 0, patient.output);
		assert.equal(readdirSync(into).length, 3);
		// EAST has neither registered the destination nor stored the study.
		assert.match((await move('EAST', 'ARCHIVE', ...study)).output, /MoveDestinationUnknown/);
		assert.match((await move('WEST', 'ELSEWHERE', ...study)).output, /MoveDestinationUnknown/);
		assert.match((await move('WEST', 'NOBODY', ...study)).output, /SubOperations|0xa702|UnableToPerform/i);
		const nothing = await move('WEST', 'ARCHIVE', 'QueryRetrieveLevel=STUDY', 'StudyInstanceUID=1.9.1');
		assert.match(nothing.output, /Success/);
		assert.equal(readdirSync(into).length, 3);
	});

	test('C-MOVE converts for a peer that takes the default transfer syntax alone', async () => {
		const withoutMeta = (dump: string) => dump.replace(/^(?:\(0002,.*|#.*)\n/gm, '');
		const expected = async (uid: string) => {
			const source = files.find((file) => file.endsWith(`/${uid}.dcm`)) ?? assert.fail(uid);
			const implicit = join(folder.path, `${uid}.implicit`);
			assert.equal((await run('dcmconv', '+ti', source, implicit)).code, 0);
			return withoutMeta((await run('dcmdump', '-q', '+L', implicit)).output);
		};
		const into = join(folder.path, 'implicit');
		mkdirSync(into);
		await using old = await startStorescp(into, '-aet', 'OLD', '+xi');
		await addRemoteAe(service.administration, { site: 'west', title: 'OLD', host: '127.0.0.1', port: old.port, tls: false });
		const keys = ['-k', 'QueryRetrieveLevel=STUDY', '-k', 'StudyInstanceUID=1.2.1'];
		await eventually(async () => {
			const moved = await run('movescu', '-v', '-S', '-aem', 'OLD', ...peer('FINDER', 'WEST'), ...keys);
			return moved.code === 0 && /Received Final Move Response \(Success\)/.test(moved.output);
		}, 'the remote AE');
		const received = readdirSync(into);
		assert.equal(received.length, 2);
		for (const name of received) {
			const uid = /((?:\d+\.)+\d+)/.exec(name)?.[1] ?? assert.fail(name);
			const path = join(into, name);
			assert.equal(readFileMeta(readFileSync(path)).transferSyntaxUid, '1.2.840.10008.1.2');
			assert.equal(withoutMeta((await run('dcmdump', '-q', '+L', path)).output), await expected(uid));
		}
	});

	test('a patient who was merged is found by both ids, and shown by the one of now', async () => {
		const merge = [
			'MSH|^~\\&|ADT|HOSP|TRIBUTARY|WEST|20240601||ADT^A40^ADT_A39|M1|P|2.5.1',
			'EVN||20240601',
			'PID|1||P9||Lovemore^Augusta^Ada||18151210|F',
			'MRG|P1',
		].join('\r');
		const posted = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
			body: merge,
		});
		assert.equal(posted.status, 200, await posted.text());
		for (const id of ['P1', 'P9']) {
			const { responses, output } = await find('WEST', '-P', 'STUDY', `PatientID=${id}`, 'PatientName', 'StudyInstanceUID');
			assert.equal(responses.length, 2, output);
			for (const response of responses) assert.ok(response.includes('[P9]') && response.includes('[Lovemore^Augusta^Ada]'), response);
		}
		const east = await find('EAST', '-S', 'STUDY', 'PatientID=P9');
		assert.equal(east.responses.length, 0, east.output);
	});

	test('who is not granted to query gets no presentation context, but may store', async () => {
		const keys = ['-k', 'QueryRetrieveLevel=STUDY', '-k', 'StudyInstanceUID'];
		const refused = await run('findscu', '-v', '-S', ...peer('MODALITY', 'WEST'), ...keys);
		assert.notEqual(refused.code, 0, refused.output);
		assert.match(refused.output, /No Acceptable Presentation Contexts|No presentation context/i);
		const unknown = await run('findscu', '-v', '-S', ...peer('STRANGER', 'WEST'), ...keys);
		assert.match(unknown.output, /Calling AE Title Not Recognized/);
		const retrieved = await run('getscu', '-v', '-S', '-od', folder.path, ...peer('MODALITY', 'WEST'), ...keys);
		assert.notEqual(retrieved.code, 0, retrieved.output);
	});

	test('every query and retrieval is in the audit trail, with counts and without a patient', async () => {
		interface Event {
			action: string;
			subject: string;
			actor: string;
			detail: Record<string, unknown>;
			studies: string[] | null;
		}
		let events: Event[] = [];
		await eventually(async () => {
			events = await service.rows<Event>(
				"select action, subject, actor, detail, studies from audit_event where action like 'dicom.c-%' order by id",
			);
			return events.some(({ action }) => action === 'dicom.c-get');
		}, 'the audit events');
		const found = events.find(({ action, subject }) => action === 'dicom.c-find' && subject === 'study-root STUDY') ?? assert.fail();
		assert.deepEqual(found.detail, { calling_ae: 'FINDER', status: '0x0000', matches: 5 });
		assert.equal(found.studies?.length, 5, 'the studies that were found');
		assert.match(found.actor, /^client:/);
		const got = events.find(({ action }) => action === 'dicom.c-get') ?? assert.fail();
		assert.deepEqual(got.detail, { calling_ae: 'FINDER', status: '0x0000', completed: 3, failed: 0 });
		assert.ok(events.some(({ detail }) => detail['status'] === '0xA900'));
		assert.ok(!JSON.stringify(events).includes('Lovemore'));
	});
});
