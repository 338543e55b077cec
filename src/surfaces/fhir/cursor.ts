import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';
import type { PagePosition } from '#record/search-plan.ts';

/** Changes when the form of cursors does; an older one is then refused, not misread. */
const form = 1;
const bindingLength = 22;

/** What a cursor is good for. */
export interface CursorScope {
	siteId: string;
	type: string;
	/** The parameters of the search, in their order. */
	applied: readonly (readonly [string, string])[];
}

/**
 * A cursor of another site or search is refused by its digest. That is a courtesy to the client, not the wall between
 * sites: whatever a cursor says, rows are read of the key's site only.
 */
function binding({ siteId, type, applied }: CursorScope): string {
	return createHash('sha256')
		.update(JSON.stringify([form, siteId, type, applied]))
		.digest('base64url')
		.slice(0, bindingLength);
}

export function encodeCursor(scope: CursorScope, { id }: PagePosition): string {
	return `${binding(scope)}${Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')}`;
}

/** @throws Failure `invalid` for a cursor of another site or search, or none of ours */
export function decodeCursor(scope: CursorScope, cursor: string): PagePosition {
	const hex = Buffer.from(cursor.slice(bindingLength), 'base64url').toString('hex');
	const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
	if (cursor.slice(0, bindingLength) !== binding(scope) || !isUuid(id)) {
		throw new Failure('invalid', 'the page cursor does not belong to this search', { location: { expression: '_cursor' } });
	}
	return { id };
}
