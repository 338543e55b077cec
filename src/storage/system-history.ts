import type { StoredResource } from '#record/stored-resource.ts';
import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { Cell } from './cell.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './search.ts';
import { plainArray, textArray } from './statement.ts';
import {
	type SystemHistoryPage,
	type SystemPosition,
	sharedTypesPresent,
	systemHistoryQuery,
	versionsStatement,
} from './statements/system-versions.ts';

export interface SystemVersions {
	versions: { type: ResourceType; stored: StoredResource }[];
	next: SystemPosition | undefined;
}

interface Listed extends SystemPosition {
	bytes: number;
}

/** Returns a page of the versions of all types, newest first. It ends early when their texts together would exceed `bytesMax`. */
export async function readSystemHistory(
	reader: Reader,
	siteId: string,
	page: SystemHistoryPage,
	bytesMax: number,
): Promise<SystemVersions> {
	const listed = await listVersions(reader, siteId, page);
	const shown = withinBytes(listed.slice(0, page.count), bytesMax);
	const ofType = Map.groupBy(shown, ({ type }) => type);
	const read = await Promise.all(page.shapes.map(async (shape) => contentOf(reader, siteId, shape, ofType.get(shape.resourceType) ?? [])));
	const stored = new Map(read.flat());
	const versions = shown.flatMap((version) => stored.get(version) ?? []);
	return { versions, next: listed.length > shown.length ? shown.at(-1) : undefined };
}

/**
 * Lists one version more than the page holds. Rendered resources have no index in the order of their changes, because every image would
 * write it: they are looked up within the time of the others on the page.
 */
async function listVersions(reader: Reader, siteId: string, page: SystemHistoryPage): Promise<Listed[]> {
	const listed = async (shapes: readonly TableShape[], notBefore?: string) => {
		if (shapes.length === 0) return [];
		const { statement, values } = systemHistoryQuery(siteId, { ...page, shapes, notBefore });
		return (await reader.run(statement, values)).map(listedOf);
	};
	const stored = await listed(page.shapes.filter(({ renderedFrom }) => renderedFrom === undefined));
	const rendered = await listed(
		page.shapes.filter(({ renderedFrom }) => renderedFrom !== undefined),
		stored.length > page.count ? stored.at(-1)?.lastUpdated : undefined,
	);
	return rendered.length === 0 ? stored : [...stored, ...rendered].sort(newestFirst).slice(0, page.count + 1);
}

/** The order of the statement. Times of one session have one form, in which the later one is the greater text. */
function newestFirst(left: Listed, right: Listed): number {
	return (
		descending(left.lastUpdated, right.lastUpdated) ||
		descending(left.id, right.id) ||
		right.version - left.version ||
		descending(left.type, right.type)
	);
}

function descending(left: string, right: string): number {
	return left === right ? 0 : left < right ? 1 : -1;
}

function listedOf([type, id, version, lastUpdated, bytes]: Cell[]): Listed {
	return { type: type ?? '', id: id ?? '', version: Number(version), lastUpdated: lastUpdated ?? '', bytes: Number(bytes) };
}

/** At least one, so that every page leads on. */
function withinBytes(listed: readonly Listed[], bytesMax: number): Listed[] {
	let before = 0;
	return listed.filter(({ bytes }) => {
		const fits = before < bytesMax;
		before += bytes;
		return fits;
	});
}

/** A version that is gone meanwhile, as that of a study without images, is left out. */
async function contentOf(
	reader: Reader,
	siteId: string,
	shape: TableShape,
	versions: readonly Listed[],
): Promise<[Listed, SystemVersions['versions'][number]][]> {
	if (versions.length === 0) return [];
	const rows = await reader.run(versionsStatement(shape), [
		siteId,
		plainArray(versions.map(({ id }) => id)),
		plainArray(versions.map(({ version }) => version)),
		textArray(versions.map(({ lastUpdated }) => lastUpdated)),
	]);
	return rows.flatMap(([place, ...cells]) => {
		const version = versions[Number(place) - 1];
		if (version === undefined) return [];
		const found: [Listed, SystemVersions['versions'][number]] = [version, { type: shape.resourceType, stored: rowOf(cells) }];
		return [found];
	});
}

/** Returns those of the types, which share a table, of which the site has resources. */
export async function presentTypes(reader: Reader, siteId: string, types: readonly ResourceType[]): Promise<Set<string>> {
	const rows = types.length === 0 ? [] : await reader.run(sharedTypesPresent, [siteId, textArray(types)]);
	return new Set(rows.map(([type]) => type as string));
}
