import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { addClient, type addClientInput } from '#administration/clients.ts';
import { type OperationContext, wholeNetwork } from '#administration/context.ts';
import { createKey } from '#administration/keys.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import { addSite, type SiteRecord } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { notificationMeans } from '#alerts/means.ts';
import { silentLog } from '#core/log.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { type Node, startNode } from '#processes/start-node.ts';
import { openEntities } from '#storage/entities/index.ts';
import { confirmedByNode } from '#storage/node-processes.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { readConfig } from '../../src/config.ts';
import { remoteEcho, remoteSend } from '../../src/echo.ts';
import { processInPlace } from '../../src/ingest-in-place.ts';
import type { Service } from '../../src/service.ts';

import { cheapPasswords } from './cheap-passwords.ts';
import { type TestDatabase, testDatabase, testPool } from './database.ts';
import { doorTo } from './door.ts';
import { assertEmitted } from './emitted.ts';

export { eventually } from './eventually.ts';

type ClientInput = Partial<z.input<typeof addClientInput>>;

/** The whole product on a database and on ports of its own, and the means to set it up and to look into it. */
export interface TestService extends AsyncDisposable {
	service: Node;
	/** The only process of the node, for tests that look into it. They start with PROCESSES=1. */
	process(): Service;
	databaseUrl: string;
	dataDir: string;
	administration: OperationContext & { replayRuns: ReplayRuns };
	/** A site whose HL7 client listens to loopback, and a key for it. */
	addSite(slug: string, client?: ClientInput): Promise<{ site: SiteRecord; key: string }>;
	fhir(path: string, key: string, headers?: Record<string, string>): Promise<{ status: number; body: FhirBody; headers: Headers }>;
	rows<T = Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>;
	port(surface: string): number;
	/** Ends the service and starts it again on the same database, with further variables where they are given. */
	restart(further?: Record<string, string>): Promise<void>;
}

/** FHIR JSON as tests read it: by path, without types. */
export type FhirBody = ReturnType<typeof JSON.parse>;

/** A change of access is in force when it returns; so long that only what never comes about fails on a busy machine. */
const confirmMsMax = 30_000;

/** @param given a migrated database, where the test brings its own */
export async function testService(environment: Record<string, string> = {}, given?: TestDatabase): Promise<TestService> {
	const database = given ?? (await testDatabase());
	const dataDir = mkdtempSync(join(tmpdir(), 'tributary-service-'));
	const variables = {
		DATABASE_URL: database.url,
		DATA_DIR: dataDir,
		FHIR_PORT: '0',
		HL7_PORT: '0',
		MPPS_PORT: '0',
		ADMIN_PORT: '0',
		OPS_PORT: '0',
		MLLP_PORT: '0',
		DIMSE_PORT: '0',
		LOG_LEVEL: 'silent',
		WORKERS: '1',
		// A busy machine may take longer to store something than a sender should wait.
		UNAVAILABLE_MS_MAX: '120000',
		PROCESSES: process.env['PROCESSES'] ?? '1',
		...environment,
	};
	const config = readConfig(variables);
	const door = doorTo(database.url);
	const orm = await openEntities(door.people);
	const replayRuns = new ReplayRuns(silentLog);
	const administration: TestService['administration'] = {
		...wholeNetwork('test'),
		em: orm.em,
		nowMs: () => Date.now(),
		accessChanged: async () => assert.deepEqual(await confirmedByNode(config.DATA_DIR, confirmMsMax), []),
		allowAnySource: config.ALLOW_ANY_SOURCE,
		targets: targetPolicy(config.ALLOWED_TARGETS, config.HOST),
		passwords: cheapPasswords,
		database: door.people,
		deliver: (delivery) => processInPlace(database.url, delivery),
		objects: configuredObjectStore(config),
		headerBytesMax: config.limits.dicomHeaderBytesMax,
		limits: config.limits,
		echo: remoteEcho(config),
		notifications: notificationMeans(config, Date.now),
		send: remoteSend(config),
		reader: door.currentReads,
		replayRuns,
		renderer: undefined,
	};
	const owner = await addUser(administration, { email: 'owner@example.org', admin: true, sites: [] });
	const pool = testPool(database.url, 2);
	pool.on('error', () => undefined);
	const started = {
		service: await startNode(config, silentLog, cheapPasswords),
		databaseUrl: database.url,
		dataDir,
		administration,
		addSite: async (slug: string, client: ClientInput = {}) => {
			const site = await addSite(administration, { slug, name: slug, time_zone: 'UTC' });
			await addClient(administration, {
				site: slug,
				name: `${slug} sender`,
				protocols: ['hl7-mllp'],
				allowed_ips: ['127.0.0.1'],
				confirm_overlap: true,
				...client,
			});
			const { key } = await createKey(administration, { site: slug, owner: owner.email, label: '' });
			return { site, key };
		},
		fhir: async (path: string, key: string, headers: Record<string, string> = {}) => {
			const answer = await fetch(`http://127.0.0.1:${started.port('fhir')}${path}`, {
				headers: { 'X-API-Key': key, 'Accept-Encoding': 'identity', ...headers },
			});
			const text = await answer.text();
			const body = text === '' ? undefined : JSON.parse(text);
			assertEmitted(body);
			return { status: answer.status, body, headers: answer.headers };
		},
		rows: async <T>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as T[],
		process: () => {
			const { service } = started.service;
			if (service === undefined) throw new Error('the node has several processes: start it with PROCESSES=1');
			return service;
		},
		port: (surface: string) => {
			const address = started.service.surfaces[surface];
			if (address === undefined) throw new Error(`there is no surface ${surface}`);
			return address.port;
		},
		restart: async (further = {}) => {
			await started.service.close();
			started.service = await startNode(readConfig({ ...variables, ...further }), silentLog, cheapPasswords);
		},
		[Symbol.asyncDispose]: async () => {
			await started.service.close();
			await pool.end();
			await replayRuns.close();
			await orm.close(true);
			await door.close();
			await database[Symbol.asyncDispose]();
			rmSync(dataDir, { recursive: true, force: true });
		},
	};
	return started;
}
