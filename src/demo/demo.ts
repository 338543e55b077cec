import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { addClient, listClients } from '#administration/clients.ts';
import { type AdministrationContext, wholeNetwork } from '#administration/context.ts';
import { createKey } from '#administration/keys.ts';
import { addSite, listSites } from '#administration/sites.ts';
import { addUser, listUsers } from '#administration/users.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { openPool } from '#storage/database.ts';
import { openEntities } from '#storage/entities/index.ts';
import { confirmedByNode } from '#storage/node-processes.ts';
import { databaseOf } from '#storage/open.ts';
import { type RuntimeFile, readRuntimeFile } from '#storage/runtime-file.ts';
import { type Config, readConfig } from '../config.ts';
import { sampleImage, storeBody, storeType } from './image.ts';
import { demoMessages } from './messages.ts';

const slug = 'demo';
const owner = 'demo@example.org';
const write = (text: string) => process.stdout.write(`${text}\n`);

/** Shows the running service at work: sends through its real sockets and reads everything back through FHIR. */
async function demo(): Promise<void> {
	const config = readConfig();
	const runtime = readRuntimeFile(config.DATA_DIR);
	if (runtime === undefined) throw new Error(`no service is running on ${config.DATA_DIR}; start one first: npm start`);
	const key = await prepare(runtime, config);
	const fhir = urlOf(runtime, 'fhir', '/fhir');
	await untilValid(`${fhir}/metadata`, key);
	const messages = demoMessages(`DEMO${Date.now()}`);
	write('\nsent over MLLP');
	for (const ack of await sendOverMllp(runtime, messages.mllp)) write(`  ${ack}`);
	const ingest = urlOf(runtime, 'hl7', '/v2/ingest');
	const answer = await fetch(ingest, { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' }, body: messages.http });
	write(`sent over HTTP\n  ${answer.status} ${await answer.text()}`);
	const revised = await fetch(urlOf(runtime, 'hl7', '/v3/ingest'), {
		method: 'POST',
		headers: { 'X-API-Key': key, 'Content-Type': 'application/xml' },
		body: messages.v3,
	});
	write(`sent as HL7 v3\n  ${revised.status} ${(await revised.text()).trim().replaceAll('\n', '\n  ')}`);
	write('sent as MPPS');
	for (const told of await sendReports(urlOf(runtime, 'mpps', '/ingest'), key, messages.mpps)) write(`  ${told}`);
	write(`sent as DICOM\n  ${await sendSeries(urlOf(runtime, 'fhir', '/dicomweb/studies'), key, messages.studyUid)}`);
	await show(fhir, key);
	write('\nto repeat it');
	for (const query of [
		'Patient?identifier=4711',
		'Patient?name=rivers',
		'Observation?code=2345-7',
		'Encounter?status=in-progress',
		'ImagingStudy',
	]) {
		write(`  curl -s -H 'X-API-Key: ${key}' '${fhir}/${query}'`);
	}
	write(`  npm run -s tributary -- mpps list --site ${slug}`);
}

function urlOf(runtime: RuntimeFile, surface: string, path: string): string {
	const address = runtime.surfaces[surface];
	if (address === undefined) throw new Error(`the service has no surface ${surface}`);
	return `${address.tls ? 'https' : 'http'}://${address.host}:${address.port}${path}`;
}

/** The site, its client for loopback, and a new key for this run. */
async function prepare(runtime: RuntimeFile, { DATABASE_URL, DATA_DIR, ALLOWED_TARGETS, HOST, limits }: Config): Promise<string> {
	const pool = openPool(DATABASE_URL ?? databaseOf(runtime) ?? '', { max: 1 });
	const orm = await openEntities(pool);
	try {
		const context: AdministrationContext = {
			...wholeNetwork('demo'),
			em: orm.em,
			nowMs: () => Date.now(),
			accessChanged: async () => void (await confirmedByNode(DATA_DIR, limits.accessConfirmMsMax)),
			allowAnySource: false,
			targets: targetPolicy(ALLOWED_TARGETS, HOST),
		};
		if (!(await listUsers(context)).some(({ email }) => email === owner)) await addUser(context, { email: owner, admin: true, sites: [] });
		if (!(await listSites(context)).some((site) => site.slug === slug)) await addSite(context, { slug, name: 'Demonstration' });
		if ((await listClients({ ...context, visibleSites: [slug] })).length === 0) {
			const sender = { sending_application: 'DEMO', sending_facility: 'DEMO CLINIC' };
			await addClient(context, {
				site: slug,
				name: 'demo sender',
				protocols: ['hl7-mllp'],
				allowed_ips: ['127.0.0.1'],
				confirm_overlap: true,
				...sender,
			});
		}
		return (await createKey(context, { site: slug, owner, label: 'demonstration' })).key;
	} finally {
		await orm.close(true);
		await pool.close();
	}
}

async function untilValid(url: string, key: string): Promise<void> {
	for (let tries = 0; tries < 50; tries++) {
		if ((await fetch(url, { headers: { 'X-API-Key': key } })).ok) return;
		await pause(100);
	}
	throw new Error('the new key did not become valid within five seconds');
}

function sendOverMllp(runtime: RuntimeFile, messages: readonly string[]): Promise<string[]> {
	const { host, port } = runtime.surfaces['mllp'] ?? { host: '127.0.0.1', port: 0 };
	return new Promise((resolve, reject) => {
		const socket = connect(port, host);
		let received = '';
		socket.on('error', reject);
		socket.on('data', (chunk) => {
			received += chunk.toString();
			const acks = received.split('\u001c').slice(0, -1);
			if (acks.length < messages.length) return;
			socket.end();
			resolve(acks.map((ack) => ack.split('\r').find((segment) => segment.startsWith('MSA|')) ?? ''));
		});
		for (const message of messages) socket.write(`\u000b${message}\u001c\r`);
	});
}

async function sendReports(url: string, key: string, reports: readonly object[]): Promise<string[]> {
	const told: string[] = [];
	for (const report of reports) {
		const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
		const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(report) });
		told.push(`${answer.status} ${await answer.text()}`);
	}
	return told;
}

const slices = 12;

/** Sends a series by STOW-RS (PS3.18 §10.5), which stores as C-STORE does. */
async function sendSeries(url: string, key: string, studyUid: string): Promise<string> {
	const patient = { patientId: '4711', patientName: 'Rivers^Alba^Noa' };
	const images = Array.from({ length: slices }, (_, index) => sampleImage({ studyUid, ...patient, number: index + 1, of: slices }));
	const answer = await fetch(url, { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': storeType }, body: storeBody(...images) });
	return `${answer.status} ${await answer.text()}`;
}

interface Resource {
	resourceType: string;
	id: string;
	meta: { versionId: string };
	[element: string]: unknown;
}

async function show(fhir: string, key: string): Promise<void> {
	write('\nread through FHIR');
	for (const type of ['Patient', 'Encounter', 'Observation', 'ImagingStudy']) {
		const answer = await fetch(`${fhir}/${type}`, { headers: { 'X-API-Key': key } });
		const { entry = [] } = (await answer.json()) as { entry?: { resource: Resource }[] };
		for (const { resource } of entry) write(`  ${type.padEnd(12)} ${resource.id}  v${resource.meta.versionId}  ${summary(resource)}`);
	}
}

function summary(resource: Resource): string {
	const path = (...names: (string | number)[]) =>
		names.reduce<unknown>((value, name) => (value as Record<string | number, unknown> | undefined)?.[name], resource);
	const quantity =
		path('valueQuantity', 'value') === undefined
			? ''
			: `${path('valueQuantity', 'comparator') ?? ''}${path('valueQuantity', 'value')} ${path('valueQuantity', 'unit') ?? ''}`;
	const parts = {
		Patient: [
			path('name', 0, 'text'),
			path('identifier', 0, 'value'),
			path('birthDate'),
			resource['active'] === false ? 'replaced' : 'active',
		],
		Encounter: [path('class', 'code'), path('status'), path('identifier', 0, 'value')],
		Observation: [path('code', 'coding', 0, 'display'), quantity || path('valueString'), path('status')],
		ImagingStudy: [path('description'), path('modality', 0, 'code'), `${path('numberOfInstances')} instance(s)`],
	}[resource.resourceType];
	return (parts ?? []).filter((part) => part !== undefined).join('  ');
}

try {
	await demo();
} catch (error) {
	process.stderr.write(`demo: ${(error as Error).message}\n`);
	process.exitCode = 1;
}
