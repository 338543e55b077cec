import type { BulkConnection } from '../bulk-connection.ts';
import { schemaOf } from '../cut/tables.ts';
import type { MovedTable, People } from './moved-tables.ts';
import type { MovingSite } from './site-state.ts';

/** Says in what the schemas differ; undefined where they are of the same migrations. */
export async function schemaDifference(source: BulkConnection, target: BulkConnection): Promise<string | undefined> {
	const [here, there] = [(await schemaOf(source)).migrations, (await schemaOf(target)).migrations];
	const [lacking] = here.filter((name) => !there.includes(name));
	if (lacking !== undefined) return `the target lacks the migration ${lacking}: run the same version of Tributary there`;
	const [newer] = there.filter((name) => !here.includes(name));
	return newer === undefined ? undefined : `the target has the migration ${newer}, which this database lacks: run the same version here`;
}

/** Ids of the accounts in the target, by those of the same e-mail address in the source, and who owns keys or issuers and has none there. */
export async function peopleOf(
	source: BulkConnection,
	target: BulkConnection,
	tables: readonly MovedTable[],
	{ siteId, owner }: { siteId: string; owner: string | undefined },
): Promise<{ people: People; absent: string[]; isOwnerKnown: boolean }> {
	const accounts = async (connection: BulkConnection) => connection.cells('select id, lower(email) from app_user');
	const there = new Map((await accounts(target)).map(([id, email]) => [String(email), String(id)]));
	const heir = owner === undefined ? undefined : there.get(owner.toLowerCase());
	const emails = new Map((await accounts(source)).map(([id, email]) => [String(id), String(email)]));
	const people = new Map<string, string>();
	for (const [id, email] of emails) {
		const other = there.get(email);
		if (other !== undefined) people.set(id, other);
	}
	const absent = new Set<string>();
	// A membership whose person has no account there does not move; what somebody owns needs an owner.
	for (const { name, siteColumn, people: columns, key } of tables) {
		for (const column of columns.filter((each) => !key.includes(each))) {
			const named = await source.cells(
				`select distinct "${column}" from "${name}" where "${siteColumn}" = $1 and "${column}" is not null`,
				[siteId],
			);
			for (const [id] of named) {
				if (people.has(String(id))) continue;
				if (heir === undefined) absent.add(emails.get(String(id)) ?? '');
				else people.set(String(id), heir);
			}
		}
	}
	return { people, absent: [...absent].sort(), isOwnerKnown: owner === undefined || heir !== undefined };
}

/** Says what of the target is in the way of the site. */
export async function takenThere(source: BulkConnection, target: BulkConnection, site: MovingSite): Promise<string[]> {
	const found: string[] = [];
	const held = await target.cells('select s.id, s.slug, s.move_state, s.ae_title from site s');
	const [mine] = await source.cells('select s.ae_title from site s where s.id = $1', [site.id]);
	for (const [id, slug, state, title] of held) {
		if (id === site.id && state !== 'arriving') found.push(`the target serves the site already, as '${String(slug)}'`);
		if (id === site.id) continue;
		if (slug === site.slug) found.push(`the target has another site '${site.slug}'`);
		if (title !== null && title === mine?.[0])
			found.push(`the AE title '${String(title)}' belongs to the site '${String(slug)}' of the target`);
	}
	const keys = (await source.cells('select k.id from api_key k where k.site_id = $1', [site.id])).map(([id]) => id);
	const [shared] = await target.cells('select count(*) from api_key k where k.id = any ($1::text[]) and k.site_id <> $2', [keys, site.id]);
	if (shared?.[0] !== '0') found.push(`${shared?.[0]} API keys of the site belong to other sites of the target`);
	found.push(...(await sharedIssuers(source, target, site)));
	return found;
}

/** A token leads to one row of one site. Rows of an issuer are told apart by audience, clients or a claim. */
async function sharedIssuers(source: BulkConnection, target: BulkConnection, { id }: MovingSite): Promise<string[]> {
	const text = (which: string) =>
		`select i.issuer, i.audience, array_to_json(i.clients), i.site_claim || '=' || i.site_value, i.label from token_issuer i where i.site_id ${which} $1`;
	const theirs = await target.cells(text('<>'), [id]);
	const shared = (await source.cells(text('='), [id])).filter(([issuer, audience, clients, claim]) =>
		theirs.some(
			(other) =>
				other[0] === issuer &&
				other[1] === audience &&
				(other[3] === null || claim === null || other[3] === claim) &&
				(JSON.parse(String(clients)) as string[]).some((client) => (JSON.parse(String(other[2])) as string[]).includes(client)),
		),
	);
	return shared.map(([, , , , label]) => `the issuer '${String(label)}' and another site of the target take the same tokens`);
}

/** A client by which messages over MLLP find their site. */
export interface MllpClientRow {
	name: string;
	site: string;
	ranges: string[];
	application: string;
	facility: string;
}

/** Reads the active MLLP clients of the site, or those of all other sites. */
export async function mllpClients(connection: BulkConnection, siteId: string, whose: 'own' | 'others'): Promise<MllpClientRow[]> {
	const rows = await connection.cells(
		`select c.name, s.slug, array_to_json(c.allowed_ips), coalesce(c.sending_application, ''), coalesce(c.sending_facility, '')
		from integration_client c join site s on s.id = c.site_id
		where (s.id = $1) = $2 and c.active and 'hl7-mllp' = any (c.protocols)`,
		[siteId, whose === 'own'],
	);
	return rows.map(([name, site, ranges, application, facility]) => ({
		...{ name: String(name), site: String(site), ranges: JSON.parse(String(ranges)) as string[] },
		...{ application: String(application), facility: String(facility) },
	}));
}

/** Work on the site that goes on for long and would be cut off by the switch. */
export async function runningWork(source: BulkConnection, siteId: string): Promise<string[]> {
	const [row] = await source.cells(
		`select (select count(*) from replay_run r where r.site_id = $1 and r.state = 'running'),
			(select count(*) from bulk_job j where j.site_id = $1 and j.kind = 'import' and j.state in ('receiving', 'waiting', 'running'))`,
		[siteId],
	);
	const found: string[] = [];
	if (row?.[0] !== '0') found.push('messages of the site are being replayed or read anew: wait for the end');
	if (row?.[1] !== '0') found.push('an import of the site is under way: wait for its end, or cancel it');
	return found;
}
