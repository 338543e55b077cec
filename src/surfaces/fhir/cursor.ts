import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';

/** Changes when the form of cursors does; an older one is then refused, not misread. */
const form = 1;

/** What a cursor is bound to: one site, one resource type, one search. */
function binding(siteId: string, type: string, applied: readonly (readonly [string, string])[]): string {
	return createHash('sha256')
		.update(JSON.stringify([form, siteId, type, applied]))
		.digest('base64url')
		.slice(0, 22);
}

export function encodeCursor(siteId: string, type: string, applied: readonly (readonly [string, string])[], lastId: string): string {
	return `${binding(siteId, type, applied)}${Buffer.from(lastId.replaceAll('-', ''), 'hex').toString('base64url')}`;
}

/** @throws Failure `invalid` for a cursor of another site or search, or none of ours */
export function decodeCursor(siteId: string, type: string, applied: readonly (readonly [string, string])[], cursor: string): string {
	const bound = cursor.slice(0, 22);
	const hex = Buffer.from(cursor.slice(22), 'base64url').toString('hex');
	const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
	if (bound !== binding(siteId, type, applied) || !isUuid(id)) {
		throw new Failure('invalid', 'the page cursor does not belong to this search', { location: { expression: '_cursor' } });
	}
	return id;
}
