import type { z } from 'zod';
import type { Session } from '#access/sessions.ts';
import { auditCsvHead, auditCsvRow, type auditRecord } from '#administration/audit.ts';
import { operations } from '#administration/operations/index.ts';
import type { HttpRequest, Route } from '../http/message.ts';
import type { AdminContext } from './context.ts';
import { sessionOf, signedIn } from './guard.ts';
import { carryOut, inputOf } from './operation-routes.ts';

type AuditRecord = z.output<typeof auditRecord>;

export const auditExportPath = '/api/v1/audit.csv';

/** Rows that are read at a time. The export has all of them. */
const pageRows = 1000;
const utf8 = new TextEncoder();

/** Streams the audit trail as a file. The filters are those of its list; `limit` does not apply. */
export function auditExport(context: AdminContext): Route {
	return signedIn(context, { method: 'GET', pattern: auditExportPath }, async (session, request) => {
		// Errors in the request must be reported before the file begins.
		const first = await readPage(context, session, request);
		return {
			status: 200,
			headers: { 'Content-Type': 'text/csv; charset=utf-8; header=present', 'Content-Disposition': 'attachment; filename="audit.csv"' },
			body: lines(context, request, first),
		};
	});
}

function readPage(context: AdminContext, session: Session, request: HttpRequest, before?: string): Promise<AuditRecord[]> {
	const operation = operations.find(({ name }) => name === 'audit list');
	if (operation === undefined) throw new Error('there is no operation to list the audit trail');
	const input = { ...inputOf(operation, request), limit: pageRows, ...(before === undefined ? {} : { before }) };
	return carryOut(context, operation, session, request, input) as Promise<AuditRecord[]>;
}

/** Reads page after page, as fast as the client takes them and while the session is valid. */
async function* lines(context: AdminContext, request: HttpRequest, first: AuditRecord[]): AsyncIterable<Uint8Array> {
	yield utf8.encode(auditCsvHead);
	for (let page = first; page.length > 0; ) {
		yield utf8.encode(page.map(auditCsvRow).join(''));
		const last = page.at(-1);
		if (page.length < pageRows || last === undefined) return;
		page = await readPage(context, await sessionOf(context, request), request, last.id);
	}
}
