import { newId } from '#core/id.ts';
import type { EntityManager } from '#storage/entities/index.ts';

/** Who administers, and by what. */
export interface AdministrationContext {
	em: EntityManager;
	/** `cli:root`, or the e-mail of who is signed in. */
	actor: string;
	nowMs(): number;
	/** ALLOW_ANY_SOURCE. */
	allowAnySource: boolean;
}

/** What is asked for is not there, or not as it must be; the text says which argument and why. */
export class AdministrationError extends Error {
	override readonly name = 'AdministrationError';
}

export interface AuditedChange {
	action: string;
	subject: string;
	siteId: string | null;
	detail: object;
}

/**
 * Carries out a change, its audit event and the advance of the access version in one transaction, so that every node
 * learns of it and nothing is changed unseen.
 */
export function change<T>(context: AdministrationContext, work: (em: EntityManager) => Promise<[T, AuditedChange]>): Promise<T> {
	return context.em.fork().transactional(async (em) => {
		const [result, audited] = await work(em);
		await em.flush();
		const connection = em.getConnection();
		const transaction = em.getTransactionContext();
		await connection.execute('update access_version set version = version + 1', [], 'run', transaction);
		const { action, subject, siteId, detail } = audited;
		const values = [newId(), new Date(context.nowMs()).toISOString(), siteId, context.actor, action, subject, null, JSON.stringify(detail)];
		await connection.execute(insertAudit, values, 'run', transaction);
		return result;
	});
}

const insertAudit =
	'insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail) values (?, ?, ?, ?, ?, ?, ?, ?)';
