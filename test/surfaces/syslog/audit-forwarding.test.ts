import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { SaxesParser } from 'saxes';
import { fhirClient } from '#test/support/fhir-client.ts';
import { freePort } from '#test/support/free-port.ts';
import { needs, without } from '#test/support/needs.ts';
import { eventually, testService } from '#test/support/service.ts';

const certificates = join(import.meta.dirname, '../mllp/certificates');
const file = (name: string) => join(certificates, name);

/** A receiver of syslog over TLS that asks for a certificate, and takes messages by their counted octets. */
class SyslogReceiver {
	readonly messages: string[] = [];
	readonly #sockets = new Set<TLSSocket>();
	#server: Server | undefined;

	async listen(port = 0): Promise<number> {
		const [cert, key, ca] = ['server.cert.pem', 'server.key.pem', 'authority.cert.pem'].map((name) => readFileSync(file(name)));
		const server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true }, (socket) => {
			this.#sockets.add(socket);
			let waiting = Buffer.alloc(0);
			socket.on('error', () => undefined);
			socket.on('data', (chunk) => {
				waiting = Buffer.concat([waiting, chunk]);
				for (;;) {
					const blank = waiting.indexOf(0x20);
					const octets = Number(waiting.toString('latin1', 0, Math.max(0, blank)));
					if (blank < 1 || waiting.length < blank + 1 + octets) return;
					this.messages.push(waiting.toString('utf8', blank + 1, blank + 1 + octets));
					waiting = waiting.subarray(blank + 1 + octets);
				}
			});
		});
		this.#server = server;
		await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
		return (server.address() as AddressInfo).port;
	}

	async close(): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		await new Promise((resolve) => this.#server?.close(resolve));
	}
}

interface Element {
	name: string;
	attributes: Record<string, string>;
	children: string[];
}

/** The elements of the message below its root, with the names of those in them. @throws where it is no well-formed XML */
function elementsOf(message: string): Element[] {
	const xml = message.slice(message.indexOf('\ufeff') + 1);
	const found: Element[] = [];
	const path: string[] = [];
	const parser = new SaxesParser();
	parser.on('opentag', ({ name, attributes }) => {
		if (path.length === 1) found.push({ name, attributes: attributes as Record<string, string>, children: [] });
		if (path.length === 2) found.at(-1)?.children.push(name);
		path.push(name);
	});
	parser.on('closetag', () => path.pop());
	parser.write(xml).close();
	return found;
}

/** Holds a message to the schema of PS3.15 §A.5.1: the elements in their order, and the attributes that each must have. */
function assertSchema(message: string): void {
	assert.match(
		message,
		/^<85>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ tributary \d+ DICOM\+RFC3881 - \ufeff<\?xml version="1\.0" encoding="UTF-8"\?><AuditMessage>/,
	);
	const elements = elementsOf(message);
	const order = ['EventIdentification', 'ActiveParticipant', 'AuditSourceIdentification', 'ParticipantObjectIdentification'];
	const places = elements.map(({ name }) => order.indexOf(name));
	assert.ok(!places.includes(-1), message);
	assert.deepEqual(places, [...places].sort(), message);
	const required: Readonly<Record<string, readonly string[]>> = {
		EventIdentification: ['EventActionCode', 'EventDateTime', 'EventOutcomeIndicator'],
		ActiveParticipant: ['UserID', 'UserIsRequestor'],
		AuditSourceIdentification: ['AuditSourceID'],
		ParticipantObjectIdentification: ['ParticipantObjectID', 'ParticipantObjectTypeCode'],
	};
	for (const { name, attributes, children } of elements) {
		for (const attribute of required[name] ?? []) assert.ok(attributes[attribute], `${name} ${attribute}`);
		if (name === 'EventIdentification') assert.deepEqual(children, ['EventID', 'EventTypeCode']);
		if (name === 'ParticipantObjectIdentification') assert.equal(children[0], 'ParticipantObjectIDTypeCode');
	}
	assert.equal(places.filter((place) => place === 0).length, 1);
	assert.ok(places.filter((place) => place === 1).length >= 1);
	assert.equal(places.filter((place) => place === 2).length, 1);
}

describe('the audit trail by syslog over TLS', () => {
	test('is sent as DICOM audit messages; what happens while the receiver is away comes when it is back', async () => {
		const port = await freePort();
		const receiver = new SyslogReceiver();
		await using service = await testService({
			AUDIT_WAIT_MS_MAX: '50',
			AUDIT_SYSLOG_URL: `tls://127.0.0.1:${port}`,
			AUDIT_SYSLOG_CA_FILE: file('authority.cert.pem'),
			AUDIT_SYSLOG_CERT_FILE: file('client.cert.pem'),
			AUDIT_SYSLOG_KEY_FILE: file('client.key.pem'),
		});
		const west = fhirClient(service, (await service.addSite('west')).key);
		await west('PUT', '/Patient/anna', { resourceType: 'Patient', id: 'anna', name: [{ family: 'Strict' }] });
		await receiver.listen(port);
		const has = (pattern: RegExp) => eventually(() => receiver.messages.some((message) => pattern.test(message)), String(pattern));
		await has(/csd-code="fhir\.update"/);
		await has(/csd-code="site\.add"/);
		await receiver.close();
		await west('GET', '/Patient/anna', undefined, { 'X-Request-Id': 'while-away' });
		await eventually(
			async () => (await service.rows("select from audit_event where action = 'fhir.read' and batch is not null")).length === 1,
			'the read',
		);
		assert.ok(!receiver.messages.some((message) => message.includes('fhir.read')));
		await receiver.listen(port);
		await has(/csd-code="fhir\.read"/);
		for (const message of receiver.messages) assertSchema(message);
		const read = elementsOf(receiver.messages.find((message) => message.includes('fhir.read')) ?? '');
		const [event] = read;
		assert.deepEqual([event?.attributes['EventActionCode'], event?.attributes['EventOutcomeIndicator']], ['R', '0']);
		const [caller] = read.filter(({ name }) => name === 'ActiveParticipant');
		assert.match(caller?.attributes['UserID'] ?? '', /^key:/);
		assert.equal(caller?.attributes['NetworkAccessPointID'], '127.0.0.1');
		assert.equal(read.find(({ name }) => name === 'AuditSourceIdentification')?.attributes['AuditEnterpriseSiteID'], 'west');
		const objects = read.filter(({ name }) => name === 'ParticipantObjectIdentification').map(({ attributes }) => attributes);
		assert.ok(objects.some((each) => each['ParticipantObjectTypeCodeRole'] === '1' && each['ParticipantObjectTypeCode'] === '1'));
		assert.ok(!receiver.messages.join('').includes('Strict'));
		await receiver.close();
	});

	test('is taken by rsyslog, each event once', { skip: without('rsyslog') }, async (t) => {
		const port = await freePort();
		const folder = mkdtempSync(join(tmpdir(), 'tributary-rsyslog-'));
		writeFileSync(join(folder, 'rsyslog.conf'), rsyslogConfiguration(folder, port));
		const rsyslog = spawn(needs.rsyslog.found ?? '', ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')], {
			stdio: 'ignore',
		});
		t.after(() => {
			rsyslog.kill();
			rmSync(folder, { recursive: true });
		});
		await eventually(() => accepts(port), 'rsyslog');
		await using service = await testService({
			AUDIT_WAIT_MS_MAX: '50',
			AUDIT_SYSLOG_URL: `tls://localhost:${port}`,
			AUDIT_SYSLOG_CA_FILE: file('authority.cert.pem'),
			AUDIT_SYSLOG_CERT_FILE: file('client.cert.pem'),
			AUDIT_SYSLOG_KEY_FILE: file('client.key.pem'),
		});
		const west = fhirClient(service, (await service.addSite('west')).key);
		for (const id of ['one', 'two', 'three']) await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
		const written = () => {
			const path = join(folder, 'audit.log');
			return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
		};
		const updates = () => written().filter((line) => line.includes('csd-code="fhir.update"'));
		await eventually(() => updates().length >= 3, 'the events in the file of rsyslog');
		const named = updates().flatMap((line) => /ParticipantObjectID="Patient\/(\w+)"/.exec(line)?.[1] ?? []);
		assert.deepEqual(named.sort(), ['one', 'three', 'two']);
		for (const line of written()) assert.match(line, /^<85>1 .*<AuditMessage>.*<\/AuditMessage>$/);
	});
});

/** Takes syslog over TLS from whoever shows a certificate of the authority, and writes each message as it came into a line. */
function rsyslogConfiguration(folder: string, port: number): string {
	return `
global(workDirectory="${folder}" maxMessageSize="64k" defaultNetstreamDriver="gtls"
	defaultNetstreamDriverCAFile="${file('authority.cert.pem')}"
	defaultNetstreamDriverCertFile="${file('server.cert.pem')}"
	defaultNetstreamDriverKeyFile="${file('server.key.pem')}")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="x509/certvalid")
input(type="imtcp" port="${port}" address="127.0.0.1")
template(name="whole" type="string" string="%rawmsg%\n")
*.* action(type="omfile" file="${folder}/audit.log" template="whole")
`;
}

function accepts(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1', () => {
			socket.destroy();
			resolve(true);
		});
		socket.on('error', () => resolve(false));
	});
}
