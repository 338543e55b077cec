import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type TestContext, test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { CertificateFiles, subjectShown } from '#test/support/certificate-files.ts';
import { element, sequence } from '#test/support/data-set.ts';
import { testDatabase } from '#test/support/database.ts';
import { type GivenImage, imageDataSet } from '#test/support/images.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { Modality } from '#test/support/modality.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { eventually } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { administer } from '#test/support/template.ts';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';
import { associate, statusOf } from '#test/surfaces/dimse/peer.ts';
import { allResponses, ask, identifier, questionContexts } from '#test/surfaces/dimse/questions.ts';

/** The lines of the log as objects; whatever follows the block of the start has to be JSON. */
function linesOf(output: string): Record<string, unknown>[] {
	const after = output.slice(output.indexOf('first steps'));
	return after
		.slice(after.indexOf('\n'))
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line));
}

test('an outage of database and object store, and a SIGHUP, are told in lines of JSON: the first attempt with its stack, then by number, then its end', async () => {
	using files = new CertificateFiles();
	await using database = await testDatabase();
	await using store = new S3Server();
	await using service = new ServiceProcess({
		DATABASE_URL: database.url,
		PROCESSES: '1',
		WORKERS: '1',
		OBJECT_STORE_URL: `s3://${store.bucket}/images`,
		...(await store.variables()),
		...{ MLLP_TLS_PORT: '0', DIMSE_TLS_PORT: '0', ...files.variables },
	});
	await service.start();
	const key = await service.addSite('north');
	const of = (text: string) => linesOf(service.output).filter(({ msg }) => msg === text);

	// The SDK complains of a stream whose request it may not repeat, to the console unless it is told otherwise.
	store.fault = ({ method }) => (method === 'PUT' ? 'reset' : undefined);
	const stow = request({
		...{ host: '127.0.0.1', port: service.port('fhir'), path: '/dicomweb/studies', method: 'POST', rejectUnauthorized: false },
		headers: { 'X-API-Key': key, 'Content-Type': multipartType },
	});
	stow.end(multipartBody([file()]));
	const [answer] = (await once(stow, 'response')) as [IncomingMessage];
	answer.resume();
	assert.equal(answer.statusCode, 503);
	await eventually(() => of('the client of the object store complains').length > 0, 'what the SDK says');

	const client = await MllpClient.connect(service.port('mllp'));
	assert.equal(msa(await client.send(adt('1', 'LOG', 1))).code, 'AA');
	const name = new URL(database.url).pathname.slice(1);
	await administer(database.url, `alter database ${name} allow_connections false`);
	await administer(database.url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
	const waiting = client.send(adt('2', 'LOG', 1));
	const trouble = 'the database does not take batches';
	await eventually(() => of(trouble).length > 0, 'the first line');
	await administer(database.url, `alter database ${name} allow_connections true`);
	assert.equal(msa(await waiting).code, 'AA');
	await eventually(() => of(`${trouble}: over`).length > 0, 'the end of it');
	const reasons = of(trouble).map(({ err }) => JSON.stringify((err as { cause?: { code?: string } }).cause?.code));
	assert.equal(new Set(reasons).size, reasons.length, `one line with a stack for each reason: ${reasons.join(', ')}`);

	// The files are looked at every ten seconds as well; the line before tells that it was the signal.
	const surfaces = ['fhir', 'hl7', 'admin', 'mllp_tls', 'dimse_tls'];
	for (const surface of surfaces) assert.equal(await subjectShown(service.port(surface)), 'CN=server.test', surface);
	files.use('client');
	process.kill(service.pid, 'SIGHUP');
	const renewed = 'the new TLS files are in use; open connections go on with the previous certificates';
	await eventually(() => of(renewed).length > 0, 'the renewal');
	const texts = linesOf(service.output).map(({ msg }) => msg);
	assert.equal(texts[texts.indexOf(renewed) - 1], 'looking at the TLS files');
	for (const surface of surfaces)
		await eventually(async () => (await subjectShown(service.port(surface))) === 'CN=client.test', `the new certificate of ${surface}`);
	assert.equal(msa(await client.send(adt('3', 'LOG', 1))).code, 'AA', 'an open connection goes on');
	client.close();
	assert.equal(await service.end('SIGTERM'), 0);
	linesOf(service.output);
});

/** A patient whose data cannot be mistaken for anything else. */
const canary = { family: 'Zyxwvutara', number: 'CNR-471177', birthDate: '19031217', street: '17 Canary Quay', uid: '1.2.826.0.1.471177.5' };

/** Requests to each surface that are right and wrong in many ways, and always have the patient. */
function askedOf(port: (surface: string) => number, headers: Record<string, string>) {
	const { family, number, birthDate, street, uid } = canary;
	const patient = { resourceType: 'Patient', identifier: [{ value: number }], name: [{ family }], address: [{ line: [street] }] };
	const as = (type: string) => ({ ...headers, 'Content-Type': type });
	const asked = (surface: string, path: string, init: RequestInit) => () => fetch(`http://127.0.0.1:${port(surface)}${path}`, init);
	const fhir = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
		asked('fhir', path, { method, headers: as('application/fhir+json'), ...(body !== undefined && { body: JSON.stringify(body) }) });
	const text = (surface: string, path: string, type: string, body: string) =>
		asked(surface, path, { method: 'POST', headers: as(type), body });
	return [
		fhir('/fhir/Patient', patient),
		fhir('/fhir/Patient', { ...patient, gender: family, birthDate: `${birthDate}-${street}` }),
		fhir('/fhir/Patient', { ...patient, [family]: number }),
		fhir(`/fhir/Patient/${number}`, { ...patient, id: uid }, 'PUT'),
		fhir(`/fhir/Patient/${number}`),
		fhir(`/fhir/Patient?name=${family}&birthdate=${birthDate}-${number}`),
		fhir(`/fhir/Patient?${family}=${number}`),
		fhir('/fhir', {
			resourceType: 'Bundle',
			type: 'transaction',
			entry: [{ resource: patient, request: { method: 'POST', url: family } }],
		}),
		text('fhir', '/fhir/Patient', 'application/fhir+json', `{"resourceType":"Patient","name":"${family}`),
		text('fhir', '/dicomweb/studies', 'multipart/related; type="application/dicom"; boundary=b', `--b\r\n\r\n${family}${number}\r\n--b--`),
		asked('fhir', `/dicomweb/studies?PatientName=${family}&StudyDate=${number}`, { headers }),
		asked('fhir', `/dicomweb/studies/${uid}/metadata`, { headers }),
		text(
			'hl7',
			'/v2/ingest',
			'text/plain',
			`MSH|^~\\&|A|B|||20260105||ADT^${family}|${number}|P|2.5.1\rPID|1||${number}||${family}||${birthDate}`,
		),
		text('hl7', '/v2/ingest', 'text/plain', `PID|1||${number}||${family}||${birthDate}|||${street}`),
		text('hl7', '/v3/ingest', 'application/xml', `<PRPA_IN201305UV02><name>${family}</name><id extension="${number}"`),
		text('mpps', '/ingest', 'application/json', JSON.stringify({ sop_instance_uid: uid, status: family, attributes: { name: family } })),
		text('mpps', '/ingest', 'application/json', `{"name":"${family}"`),
		asked('fhir', `/fhir/Patient?name=${family}`, { headers: { 'X-API-Key': number } }),
		text('admin', '/api/v1/session', 'application/json', JSON.stringify({ email: `${family}@example.org`, password: number })),
		asked('admin', `/api/v1/messages?patient=${number}`, {}),
	];
}

/** Images of the patient, one sound and the others wrong in many ways. Returns the status of each. */
async function storedOf(port: number): Promise<(number | undefined)[]> {
	const { family, number, birthDate, street, uid } = canary;
	const image: GivenImage = {
		...{ studyUid: `${uid}.1`, seriesUid: `${uid}.1.1`, sopInstanceUid: `${uid}.1.1.1`, modality: 'CT', accession: number },
		...{ patientId: number, patientName: `${family}^A`, birthDate, studyDescription: street },
	};
	const sound = imageDataSet(image);
	const statuses: (number | undefined)[] = [];
	for (const [sopInstanceUid, dataSet] of [
		[image.sopInstanceUid, sound],
		[image.sopInstanceUid, imageDataSet({ ...image, patientId: `${number}-2`, patientName: `${family}^B` })],
		[`${uid}.2`, sound],
		[number, sound],
		[`${uid}.3`, imageDataSet({ ...image, sopInstanceUid: `${uid}.3`, birthDate: `${birthDate}-${street}`, date: family, sex: street })],
		[`${uid}.4`, imageDataSet({ ...image, sopInstanceUid: `${uid}.4`, patientId: number.repeat(40), patientName: family.repeat(400) })],
		[`${uid}.5`, imageDataSet({ ...image, sopInstanceUid: `${uid}.5`, studyUid: family, seriesUid: number })],
		[`${uid}.6`, imageDataSet({ ...image, sopInstanceUid: `${uid}.6` }).subarray(0, -5)],
		[`${uid}.7`, Buffer.from(`${family}${number}${street}`)],
		[`${uid}.8`, Buffer.concat([element(0x0008_0005, 'CS', family), imageDataSet({ ...image, sopInstanceUid: `${uid}.8` })])],
	] as [string, Buffer][]) {
		using scu = await StorageScu.open(port, { called: 'NORTH' });
		const { sopClassUid, transferSyntaxUid } = ctInstance({ sopInstanceUid });
		statuses.push((await scu.store({ sopClassUid, transferSyntaxUid, sopInstanceUid, dataSet })).status);
	}
	using scu = await StorageScu.open(port, { called: 'NORTH' });
	const [command, data] = scu.request({ ...ctInstance({ sopInstanceUid: `${uid}.9` }), dataSet: sound }, 100);
	if (command !== undefined && data !== undefined) scu.peer.write(command, data, Buffer.from(`${family}${number}`));
	await scu.peer.closed;
	return statuses;
}

/** Questions about the patient, and the status of the last answer to each. */
async function askedByDimse(test: TestContext, port: number): Promise<(number | undefined)[]> {
	const { family, number, birthDate, street, uid } = canary;
	const statuses: (number | undefined)[] = [];
	for (const keys of [
		[
			[0x0008_0052, 'CS', 'STUDY'],
			[0x0010_0010, 'PN', `${family}*`],
			[0x0010_0020, 'LO', number],
		],
		[
			[0x0008_0052, 'CS', 'STUDY'],
			[0x0008_0020, 'DA', `${birthDate}-${street}`],
			[0x0010_0010, 'PN', family],
		],
		[
			[0x0008_0052, 'CS', family],
			[0x0010_0020, 'LO', number],
		],
		[
			[0x0008_0052, 'CS', 'IMAGE'],
			[0x0020_000d, 'UI', family],
			[0x0008_0018, 'UI', number],
		],
		[[0x0010_0010, 'PN', family]],
	] as [number, string, string][][])
		for (const context of [1, 3, 5] as const) {
			const peer = await associate(test, port, { called: 'NORTH', contexts: questionContexts });
			peer.write(ask(context, identifier(...keys), context === 3 ? 'CT1' : undefined));
			const last = (await allResponses(peer)).at(-1);
			statuses.push(last && statusOf(last.command));
		}
	const peer = await associate(test, port, { called: 'NORTH', contexts: questionContexts });
	peer.write(ask(1, Buffer.from(`${family}${number}${street}${uid}`)));
	const [answer] = await allResponses(peer);
	return [...statuses, answer && statusOf(answer.command)];
}

/** Reports of procedure steps of the patient, and the status of the answer to each. */
async function reportedByDimse(port: number): Promise<(number | undefined)[]> {
	const { family, number, birthDate, street, uid } = canary;
	const status = (text: string) => element(0x0040_0252, 'CS', text);
	const of = (text: string, date = '20260105', study = `${uid}.1`) =>
		Buffer.concat([
			element(0x0008_0060, 'CS', 'CT'),
			element(0x0010_0010, 'PN', `${family}^A`),
			element(0x0010_0020, 'LO', number),
			element(0x0010_0030, 'DA', birthDate),
			element(0x0040_0241, 'AE', 'CT1'),
			element(0x0040_0244, 'DA', date),
			element(0x0040_0245, 'TM', '101500'),
			status(text),
			element(0x0040_0254, 'LO', street),
			sequence(0x0040_0270, [element(0x0020_000d, 'UI', study)]),
		]);
	using modality = await Modality.open(port, 'NORTH');
	const answers = [
		await modality.create(`${uid}.21`, of('IN PROGRESS')),
		await modality.create(`${uid}.21`, of('IN PROGRESS')),
		await modality.create(`${uid}.22`, of(family)),
		await modality.create(number, of('IN PROGRESS')),
		await modality.create(`${uid}.23`, of('IN PROGRESS', `${birthDate}-${street}`, family)),
		await modality.create(`${uid}.24`, Buffer.from(`${family}${number}`)),
		await modality.create(`${uid}.25`, of('IN PROGRESS').subarray(0, -7)),
		await modality.set(`${uid}.26`, Buffer.concat([status('COMPLETED'), element(0x0010_0010, 'PN', family)])),
		await modality.set(`${uid}.21`, status(family)),
		await modality.set(`${uid}.21`, Buffer.from(`${family}${number}`)),
	];
	return answers.map(({ status: code }) => code);
}

test('no line of the log and no metric has what a patient is known by, whatever is wrong with what was sent', async (context) => {
	await using database = await testDatabase();
	await using service = new ServiceProcess({ DATABASE_URL: database.url, PROCESSES: '1', WORKERS: '1', LOG_LEVEL: 'trace' });
	await service.start();
	const key = await service.addSite('north');
	await service.commands(
		['site', 'set', 'north', '--ae-title', 'NORTH'],
		[
			'client',
			'add',
			'--site',
			'north',
			'--name',
			'ct',
			'--protocol',
			'dicom',
			'--allow-ip',
			'127.0.0.1',
			'--calling-ae',
			'CT1',
			'--allow',
			'query',
		],
	);
	const { family, number, birthDate, street, uid } = canary;
	const statuses = new Set<number>();
	for (const ask of askedOf((surface) => service.port(surface), { 'X-API-Key': key })) {
		const answer = await ask();
		statuses.add(answer.status);
		assert.ok(answer.status < 500, `${answer.url.replace(/.*:\d+/, '')}: ${answer.status}`);
		await answer.body?.cancel();
	}
	assert.ok(
		[201, 400, 401, 404, 422].every((status) => statuses.has(status)),
		[...statuses].join(),
	);
	const client = await MllpClient.connect(service.port('mllp'));
	const codes: string[] = [];
	for (const message of [
		adt(number, number, family),
		adt(`${number}-2`, number, family).replace('19700131', `${birthDate}-${street}`),
		adt(`${number}-3`, '', family),
		adt(`${number}-4`, number, family, family),
	])
		codes.push(msa(await client.send(message)).code);
	client.close();
	assert.ok(codes.includes('AA') && codes.some((code) => code !== 'AA'), codes.join());
	const dimse = service.port('dimse');
	for (const [what, statuses] of Object.entries({
		'C-STORE': await storedOf(dimse),
		'C-FIND, C-MOVE and C-GET': await askedByDimse(context, dimse),
		MPPS: await reportedByDimse(dimse),
	}))
		assert.ok(statuses.includes(0) && statuses.filter((status) => status !== 0).length > 2, `${what}: ${statuses.map(String).join()}`);
	const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
	assert.match(metrics, /^tributary_/m);
	assert.equal(await service.end('SIGTERM'), 0);
	const lines = linesOf(service.output);
	assert.ok(lines.length > 0);
	for (const [name, shown] of Object.entries({ log: service.output, metrics }))
		for (const known of [family, number, birthDate, street, uid]) {
			const at = shown.indexOf(known);
			assert.equal(at, -1, `${name}: ${shown.slice(Math.max(0, at - 300), at + 100)}`);
		}
});
