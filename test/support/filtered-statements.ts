import { nilId } from '#core/id.ts';
import type { Statement } from '#storage/statement.ts';
import { auditHistogram, messageHistogram } from '#storage/statements/administrative/histograms.ts';
import { listAuditEvents } from '#storage/statements/administrative/list-audit.ts';
import { type MessageFilters, searchMessages } from '#storage/statements/administrative/search-messages.ts';
import { countTrail, siteTrail, type TrailFilters } from '#storage/statements/administrative/site-audit.ts';

/** Filters of which each makes another query of a list. */
const messageFilters: readonly Omit<MessageFilters, 'sites' | 'limit'>[] = [
	{},
	{ outcome: 'refused' },
	{ patients: ['1'] },
	{ controlIds: ['1'] },
	{ messageTypes: ['ADT^A01'] },
	{ surface: 'mllp' },
	{ surface: 'hl7', kind: 'fhir' },
	{ clientId: nilId },
	{ cause: '1' },
	{ sinceMs: 0, untilMs: 1, before: nilId },
];
const trailFilters: readonly TrailFilters[] = [
	{ count: 1 },
	{
		count: 1,
		ids: [nilId],
		patients: [nilId],
		actors: ['1'],
		subjects: ['1'],
		sources: ['1'],
		actions: ['1'],
		verbs: { not: true, of: ['1'] },
	},
	{ count: 1, since: '2026-01-01', before: '2026-01-02', after: nilId },
	{ count: 1, spans: [['2026-01-01', 'infinity']], after: nilId, oldestFirst: true },
];

/** The queries that are made by filters, each by a name of its own. */
export function statementsByFilters(siteId: string): Statement[] {
	const parts = [undefined, 'associations', 'changes'] as const;
	return [
		...messageFilters.flatMap((filters, index) => [
			{ name: `search_messages_${index}`, text: searchMessages({ ...filters, sites: ['north'], limit: 1 }).statement.text },
			{ name: `message_histogram_${index}`, text: messageHistogram({ ...filters, sites: ['north'], limit: 1 }, [nilId], [nilId]).text },
		]),
		...parts.flatMap((part) => [
			...[true, false].map((byActor) => ({ name: `list_audit_${part}_${byActor}`, text: listAuditEvents({ byActor, part }).text })),
			{ name: `audit_histogram_${part}`, text: auditHistogram(part).text },
		]),
		...trailFilters.flatMap((filters, index) => [
			{ name: `site_trail_${index}`, text: siteTrail(siteId, filters).statement.text },
			{ name: `count_trail_${index}`, text: countTrail(siteId, filters).statement.text },
		]),
	];
}
