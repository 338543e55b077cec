import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { addClient, type addClientInput, type ShownClient } from '#administration/clients.ts';
import { type OperationContext, wholeNetwork } from '#administration/context.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import { addSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { notificationMeans } from '#alerts/means.ts';
import { silentLog } from '#core/log.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { openEntities } from '#storage/entities/index.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';
import { defaultLimits } from '../../src/limits.ts';
import { cheapPasswords } from './cheap-passwords.ts';
import { testDatabase } from './database.ts';
import { doorTo } from './door.ts';

/** A database of the test's own, administered by 'test'. */
export interface TestAdministration extends AsyncDisposable {
	url: string;
	context: OperationContext;
	rows<T = Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>;
	/** The version that nodes poll. */
	accessVersion(): Promise<number>;
	addClient(site: string, input?: Partial<z.infer<typeof addClientInput>>): Promise<ShownClient>;
}

/** Every instant of the administration's clock. */
export const administeredAt = '2026-03-01T10:00:00.000Z';

export async function testAdministration({ allowAnySource = false } = {}): Promise<TestAdministration> {
	const database = await testDatabase();
	const door = doorTo(database.url);
	const orm = await openEntities(door.people);
	const folder = mkdtempSync(join(tmpdir(), 'tributary-administration-'));
	const replayRuns = new ReplayRuns(silentLog);
	const context: OperationContext = {
		...wholeNetwork('test'),
		em: orm.em,
		nowMs: () => Date.parse(administeredAt),
		accessChanged: () => Promise.resolve(),
		allowAnySource,
		targets: targetPolicy([], '127.0.0.1'),
		passwords: cheapPasswords,
		database: door.people,
		deliver: (delivery) => processInPlace(database.url, delivery),
		objects: configuredObjectStore({ DATA_DIR: folder }),
		headerBytesMax: defaultLimits.dicomHeaderBytesMax,
		limits: defaultLimits,
		notifications: notificationMeans(readConfig({ DATA_DIR: folder }), () => Date.parse(administeredAt)),
		echo: remoteEcho({ limits: defaultLimits, HOST: '127.0.0.1', ALLOWED_TARGETS: [] }),
		send: remoteSend({ limits: defaultLimits, HOST: '127.0.0.1', ALLOWED_TARGETS: [] }),
		reader: door.currentReads,
		replayRuns,
		renderer: undefined,
	};
	const rows = <T>(text: string, values: unknown[] = []) => door.people.rows<T>({ text }, values);
	return {
		url: database.url,
		context,
		rows,
		accessVersion: async () => Number((await rows<{ version: string }>('select version from access_version'))[0]?.version),
		addClient: (site, input = {}) =>
			addClient(context, { site, name: 'sender', protocols: ['hl7-mllp'], allowed_ips: ['127.0.0.1'], confirm_overlap: true, ...input }),
		[Symbol.asyncDispose]: async () => {
			await replayRuns.close();
			await orm.close(true);
			await door.close();
			await database[Symbol.asyncDispose]();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** With the site `west` and its user owner@example.org. */
export async function withSite(work: (administration: TestAdministration) => Promise<void>): Promise<void> {
	await using administration = await testAdministration();
	await addSite(administration.context, { slug: 'west', name: 'West' });
	await addUser(administration.context, { email: 'owner@example.org', admin: false, sites: ['west'] });
	await work(administration);
}

interface AuditRow {
	recorded_at: Date;
	site: string | null;
	actor: string;
	action: string;
	subject: string;
	detail: Record<string, unknown>;
}

/** Carries out an operation that must leave one audit event and advance the access version by one. */
export async function audited<T>({ rows, accessVersion }: TestAdministration, work: () => Promise<T>): Promise<[T, AuditRow]> {
	const version = await accessVersion();
	const before = await rows<{ id: string }>('select id from audit_event');
	const result = await work();
	assert.equal(await accessVersion(), version + 1);
	const events = await rows<AuditRow>(
		`select a.recorded_at, s.slug as site, a.actor, a.action, a.subject, a.detail
		from audit_event a left join site s on s.id = a.site_id where not a.id = any($1)`,
		[before.map(({ id }) => id)],
	);
	const [event] = events;
	assert.equal(events.length, 1);
	assert.ok(event);
	assert.equal(event.actor, 'test');
	assert.equal(event.recorded_at.toISOString(), administeredAt);
	return [result, event];
}

/** Nothing is changed, audited or announced. */
export async function refused({ rows, accessVersion }: TestAdministration, work: () => Promise<unknown>, message: RegExp): Promise<void> {
	const state = async () => [await accessVersion(), (await rows('select id from audit_event')).length];
	const before = await state();
	await assert.rejects(work, { name: 'AdministrationError', message });
	assert.deepEqual(await state(), before);
}
