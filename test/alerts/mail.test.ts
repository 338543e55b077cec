import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { testNotice } from '#alerts/notice.ts';
import { Sender } from '#alerts/sender.ts';
import { newId } from '#core/id.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { type TestAdministration, testAdministration } from '#test/support/administration.ts';
import { alertRecorder } from '#test/support/alert-recorder.ts';
import { eventually } from '#test/support/eventually.ts';
import { without } from '#test/support/needs.ts';
import type { FhirBody } from '#test/support/service.ts';
import { ServiceProcess } from '#test/support/service-process.ts';
import { webhookReceiver } from '#test/support/webhook-receiver.ts';

const folder = mkdtempSync(join(tmpdir(), 'tributary-mail-'));
const at = (name: string) => join(folder, name);
const user = 'tributary@example.org';
const password = `p%ss ${randomBytes(12).toString('base64')}`;

/** Makes a certificate that signs itself, with its key, by openssl. */
function certificate(name: string, alternative: string): { key: Buffer; cert: Buffer } {
	const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.cert`)];
	const of = ['-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${alternative}`];
	execFileSync('openssl', ['req', '-x509', ...of, ...files], { stdio: 'ignore' });
	return { key: readFileSync(at(`${name}.key`)), cert: readFileSync(at(`${name}.cert`)) };
}

/** A mail server on one port, which can be set up anew. It takes mail only from who has signed in. */
class MailServer {
	readonly mails: { user: string | undefined; secure: boolean; text: string }[] = [];
	/** The sign-ins, each with its method, and true for the right password. */
	readonly signIns: string[] = [];
	port = 0;
	password = password;
	#server: SMTPServer | undefined;

	async start(options: SMTPServerOptions): Promise<void> {
		await this.stop();
		const server = new SMTPServer({
			onAuth: ({ username, password: given, method }, _session, done) => {
				const isRight = username === user && given === this.password;
				this.signIns.push(`${method} ${isRight ? 'right' : 'wrong'}`);
				if (isRight) done(null, { user });
				// Servers repeat what they were sent.
				else done(new Error(`nobody has the password ${given}`));
			},
			onData: (stream, session, done) => {
				void text(stream).then((content) => {
					this.mails.push({ user: session.user, secure: session.secure, text: content });
					done();
				});
			},
			...options,
		});
		server.on('error', () => undefined);
		server.listen(this.port, '127.0.0.1');
		await once(server.server, 'listening');
		this.port = (server.server.address() as AddressInfo).port;
		this.#server = server;
	}

	async stop(): Promise<void> {
		const server = this.#server;
		if (server) await new Promise<void>((resolve) => server.close(resolve));
	}
}

describe('mail by a server that asks who sends it', { skip: without('openssl') }, () => {
	const server = new MailServer();
	let trusted: { key: Buffer; cert: Buffer };
	let renamed: { key: Buffer; cert: Buffer };
	let unknown: { key: Buffer; cert: Buffer };
	let site: TestAdministration;
	let service: ServiceProcess;
	let environment: Record<string, string>;
	let id: string;

	const act = (name: string, input: object): Promise<FhirBody> => {
		const operation = operations.find((one) => one.name === name) ?? assert.fail(name);
		return perform(operation, { ...site.context }, input) as Promise<FhirBody>;
	};
	const latest = async (): Promise<FhirBody> => (await act('notification deliveries', { id }))[0];
	/** An alert begins; it is told by the service, which shares the database. */
	const begin = async (name: string) => {
		const recorder = alertRecorder(site.context.database, newId(), 3_600_000);
		const summary = `alert ${name}`;
		await recorder.record([
			{ key: `${name} {}`, name, summary, sinceMs: Date.now(), severity: 'warning', site: undefined, ofNetwork: true, list: undefined },
		]);
		return summary;
	};
	const reason = (expected: string) =>
		eventually(async () => {
			const { state, reason: told, next_at: next } = await latest();
			return state === 'waiting' && next !== null && told === expected;
		}, expected);
	const sent = (summary: string) =>
		eventually(async () => {
			const delivery = await latest();
			return delivery.summary === summary && delivery.state === 'sent';
		}, `${summary} is sent`);

	before(async () => {
		[trusted, renamed, unknown] = [
			certificate('trusted', 'IP:127.0.0.1'),
			certificate('renamed', 'DNS:elsewhere.example'),
			certificate('unknown', 'IP:127.0.0.1'),
		];
		writeFileSync(at('authorities.pem'), Buffer.concat([trusted.cert, renamed.cert]));
		writeFileSync(at('password'), `${password}\n`, { mode: 0o600 });
		await server.start({ ...trusted, authMethods: ['PLAIN'] });
		site = await testAdministration();
		environment = {
			DATABASE_URL: site.url,
			SMTP_URL: `smtp://${encodeURIComponent(user)}@127.0.0.1:${server.port}`,
			SMTP_FROM: user,
			SMTP_PASSWORD_FILE: at('password'),
			NODE_EXTRA_CA_CERTS: at('authorities.pem'),
			NOTIFICATION_RETRY_MS: '10',
			NOTIFICATION_ATTEMPTS_MAX: '100',
			ALERT_END_MS: '3600000',
			LOG_LEVEL: 'trace',
		};
		({ id } = await act('notification add', { by: 'email', to: 'oncall@example.org', network: true, alerts: mailed }));
		service = new ServiceProcess(environment);
		await service.start();
	});
	after(async () => {
		await service?.[Symbol.asyncDispose]();
		await server.stop();
		await site?.[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	/** The alerts of this test; those of the node itself are not told here. */
	const mailed = ['TributaryKeysExpiring', 'TributaryAuditNotSent', 'TributaryRefusalsHigh', 'TributaryFeedSilent'];

	test('goes through STARTTLS and AUTH PLAIN; a wrong password is told, and tried again until it is right', async () => {
		server.password = 'another';
		const summary = await begin('TributaryKeysExpiring');
		await reason('the mail server refuses the user of SMTP_URL or the password (535)');
		server.password = password;
		await sent(summary);
		const delivery = await latest();
		assert.ok(delivery.attempts > 1);
		assert.equal(delivery.reason, null);
		assert.deepEqual(
			server.mails.map(({ user: by, secure, text: content }) => [by, secure, /^Subject: (.*)$/m.exec(content)?.[1]?.trim()]),
			[[user, true, `[Tributary] Warning: ${summary}`]],
		);
		assert.deepEqual(new Set(server.signIns), new Set(['PLAIN wrong', 'PLAIN right']));
	});

	test('is not sent, and no password either, to a server whose certificate is not trusted or has another name', async () => {
		server.signIns.length = 0;
		await server.start({ ...unknown });
		const summary = await begin('TributaryAuditNotSent');
		await reason("the receiver's certificate is not trusted; NODE_EXTRA_CA_CERTS names further authorities");
		await server.start({ ...renamed });
		await reason("the receiver's certificate has another name");
		assert.deepEqual(server.signIns, []);
		await server.start({ ...trusted, authMethods: ['LOGIN'] });
		await sent(summary);
		assert.deepEqual(server.signIns, ['LOGIN right']);
	});

	test('is not sent in the clear by a server without STARTTLS', async () => {
		server.signIns.length = 0;
		await server.start({ ...trusted, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
		const summary = await begin('TributaryRefusalsHigh');
		await reason('the mail server offers no STARTTLS (500), and a password is sent over TLS only');
		assert.deepEqual([server.signIns, server.mails.length], [[], 2]);
		await server.start({ ...trusted });
		await sent(summary);
	});

	test('waits for a server that is away', async () => {
		await server.stop();
		const summary = await begin('TributaryFeedSilent');
		await reason('ECONNREFUSED');
		await server.start({ ...trusted });
		await sent(summary);
	});

	test('goes over TLS from the start where SMTP_URL begins with smtps', async () => {
		const secure = new MailServer();
		await secure.start({ ...trusted, secure: true, authMethods: ['LOGIN'] });
		const other = new ServiceProcess({ ...environment, SMTP_URL: `smtps://${encodeURIComponent(user)}@127.0.0.1:${secure.port}` });
		try {
			const [outcome] = await other.commands(['notification', 'test', id]);
			assert.deepEqual([outcome.outcome, outcome.reason], ['sent', '']);
			assert.deepEqual([secure.signIns, secure.mails.map(({ secure: isSecure }) => isSecure)], [['LOGIN right'], [true]]);
			await secure.start({ ...unknown, secure: true });
			const [refused] = await other.commands(['notification', 'test', id]);
			assert.match(refused.reason, /certificate is not trusted/);
		} finally {
			await secure.stop();
			await other[Symbol.asyncDispose]();
		}
	});

	test('leaves no password in a log, a row or a metric', async () => {
		const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		const [, count] = /^tributary_notifications_total\{by="email",outcome="sent"\} (\d+)$/m.exec(metrics) ?? [];
		assert.equal(count, '4');
		const rows = JSON.stringify(
			await site.rows('select d.*, n.target from notification_delivery d join notification n on n.id = d.notification_id'),
		);
		const log = service.output;
		assert.match(log, /a notification could not be sent/);
		const forms = [password, Buffer.from(password).toString('base64'), Buffer.from(`\0${user}\0${password}`).toString('base64')];
		for (const form of forms) for (const where of [log, rows, metrics]) assert.ok(!where.includes(form));
	});
});

test('neither a mail server nor a receiver of webhooks that stays silent holds a notification for longer than NOTIFICATION_MS_MAX', async () => {
	await using webhook = await webhookReceiver();
	webhook.status = undefined;
	const silent = createServer(() => undefined).listen(0, '127.0.0.1');
	await once(silent, 'listening');
	const { port } = silent.address() as AddressInfo;
	const mail = { host: '127.0.0.1', port, secure: false, user: '', password: undefined, from: user };
	const sender = new Sender({ mail, targets: targetPolicy([], '127.0.0.1'), msMax: 200, nowMs: () => Date.now() });
	const recipients = [
		{ by: 'email', target: 'ann@example.org' },
		{ by: 'webhook', target: webhook.url, secret: randomBytes(32) },
	] as const;
	for (const recipient of recipients)
		await assert.rejects(sender.send(recipient, testNotice(newId(), Date.now())), { name: 'NotSent', message: 'it takes too long' });
	silent.close();
});

test('a webhook is not called at an address that ALLOWED_TARGETS does not permit, whatever its name', async () => {
	await using webhook = await webhookReceiver();
	const sender = new Sender({ mail: undefined, targets: targetPolicy([], '0.0.0.0'), msMax: 5000, nowMs: () => Date.now() });
	for (const target of [webhook.url, webhook.url.replace('127.0.0.1', 'localhost'), 'https://[::ffff:169.254.169.254]/'])
		await assert.rejects(sender.send({ by: 'webhook', target, secret: randomBytes(32) }, testNotice(newId(), Date.now())), {
			name: 'NotSent',
			message: /ALLOWED_TARGETS may permit it/,
		});
	assert.deepEqual(webhook.calls, []);
});
