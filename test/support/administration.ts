import type { z } from 'zod';
import { addClient, type addClientInput, type ClientRecord } from '#administration/clients.ts';
import type { AdministrationContext } from '#administration/context.ts';
import { readRows } from '#storage/administrative-reader.ts';
import { openEntities } from '#storage/entities/index.ts';
import { testDatabase } from './database.ts';

/** A database of the test's own, administered by 'test'. */
export interface TestAdministration extends AsyncDisposable {
	url: string;
	context: AdministrationContext;
	rows<T = Record<string, unknown>>(text: string, values?: unknown[]): Promise<T[]>;
	/** The version that nodes poll. */
	accessVersion(): Promise<number>;
	addClient(site: string, input?: Partial<z.infer<typeof addClientInput>>): Promise<ClientRecord>;
}

/** Every instant of the administration's clock. */
export const administeredAt = '2026-03-01T10:00:00.000Z';

export async function testAdministration({ allowAnySource = false } = {}): Promise<TestAdministration> {
	const database = await testDatabase();
	const orm = await openEntities(database.url);
	const context = { em: orm.em, actor: 'test', nowMs: () => Date.parse(administeredAt), allowAnySource };
	const rows = <T>(text: string, values: unknown[] = []) => readRows<T>(database.url, { name: 'test', text }, values);
	return {
		url: database.url,
		context,
		rows,
		accessVersion: async () => Number((await rows<{ version: string }>('select version from access_version'))[0]?.version),
		addClient: (site, input = {}) =>
			addClient(context, { site, name: 'sender', protocols: ['hl7-mllp'], allowed_ips: ['127.0.0.1'], ...input }),
		[Symbol.asyncDispose]: async () => {
			await orm.close(true);
			await database[Symbol.asyncDispose]();
		},
	};
}
