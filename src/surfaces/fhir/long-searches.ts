import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import { cursorParameter } from '#fhir/search/result.ts';
import type { LongSearchTable } from '#storage/long-searches.ts';
import { linkTo } from './links.ts';

type Limits = Pick<FhirLimits, 'longSearchesMax' | 'longSearchMsMax' | 'searchLengthMax' | 'searchLinkLengthMax'>;
type Parameters = readonly (readonly [string, string])[];

/** A search of one site for one type. */
interface Scope {
	siteId: string;
	of: string;
}

/** The digest of a search, a dot, and the sealed position, which is absent for the first page. Other cursors have no dot. */
const longCursor = /^([\w-]{22})\.([\w-]*)$/;
/** Clients add them to any URL. They do not belong to the search. */
const tolerated: ReadonlySet<string> = new Set([cursorParameter, '_format', '_pretty']);

/**
 * Links of pages that anybody can follow by GET. A search whose links would be longer than SEARCH_LINK_LENGTH_MAX is kept in the database, and
 * its links have a short cursor instead of its parameters. A cursor means something only to its own site.
 */
export class LongSearches {
	readonly #table: Pick<LongSearchTable, 'keep' | 'read'>;
	readonly #limits: Limits;

	constructor(table: Pick<LongSearchTable, 'keep' | 'read'>, limits: Limits) {
		this.#table = table;
		this.#limits = limits;
	}

	/**
	 * Returns the parameters of a search as they would stand in a URL without a limit.
	 * @throws Failure `invalid` when they are too long, `gone` for the link of a search that is kept no longer, `unavailable`
	 */
	async parametersOf({ siteId, of: type }: Scope, query: string): Promise<string> {
		const { searchLengthMax } = this.#limits;
		if (query.length > searchLengthMax)
			throw new Failure('invalid', `the parameters of a search may have at most ${searchLengthMax} characters`);
		if (!query.includes(`${cursorParameter}=`)) return query;
		const given = new URLSearchParams(query);
		const [, digest, position] = longCursor.exec(given.get(cursorParameter) ?? '') ?? [];
		if (digest === undefined) return query;
		const further = [...given.keys()].find((name) => !tolerated.has(name));
		if (further !== undefined) throw new Failure('invalid', 'the link of a long search takes no other parameters');
		const parameters = await this.#table.read({ siteId, id: Buffer.from(digest, 'base64url').toString('hex'), type });
		if (parameters === undefined) throw new Failure('gone', 'the search of this link is kept no longer; send the search again');
		return position ? `${parameters}&${cursorParameter}=${position}` : parameters;
	}

	/** Returns the links to pages of a search: for each cursor that page, and for undefined the first page. */
	async links(scope: Scope, base: string, applied: Parameters, cursors: readonly (string | undefined)[]): Promise<string[]> {
		// The search of all types is that of the base itself.
		const url = scope.of === '' ? base : `${base}/${scope.of}`;
		const links = cursors.map((cursor) => linkTo(url, cursor === undefined ? applied : [...applied, [cursorParameter, cursor]]));
		if (links.every((link) => link.length <= this.#limits.searchLinkLengthMax)) return links;
		const digest = await this.#keep(scope, linkTo('', applied).slice(1));
		// The media type of the answer is read from the URL.
		const format = applied.filter(([name]) => name === '_format');
		return cursors.map((cursor = '') => linkTo(url, [[cursorParameter, `${digest}.${cursor}`], ...format]));
	}

	async #keep({ siteId, of: type }: Scope, parameters: string): Promise<string> {
		const digest = createHash('sha256').update(`${type}?${parameters}`).digest().subarray(0, 16);
		const { longSearchesMax: searchesMax, longSearchMsMax: msMax } = this.#limits;
		await this.#table.keep({ siteId, id: digest.toString('hex'), type, parameters }, { searchesMax, msMax });
		return digest.toString('base64url');
	}
}
