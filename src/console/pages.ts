/** The paths of the pages that show one thing. The screens are found by them, and every link to such a page is made from them. */
export const pages = {
	feed: '/feeds/:id',
	unmatched: '/unmatched/:id',
	message: '/messages/:id',
	job: '/exports/:id',
	conflict: '/conflicts/:id',
	patient: '/patients/:site/:id',
	study: '/studies/:site/:id',
	series: '/studies/:site/:id/series/:series',
	instance: '/studies/:site/:id/instances/:instance',
	step: '/steps/:id',
	report: '/reports/:id',
	resource: '/resources/:site/:type/:id',
	merge: '/identity/:site/merge/:survivor',
	mergeWith: '/identity/:site/merge/:survivor/:prior',
	site: '/sites/:slug',
	client: '/clients/:id',
	user: '/users/:email',
	notification: '/notifications/:id',
} as const;

type Members<Path extends string> = Path extends `${infer First}/${infer Rest}`
	? Members<First> | Members<Rest>
	: Path extends `:${infer Member}`
		? Member
		: never;

/**
 * The address of the page of one thing.
 * @param members what stands in its path
 * @param query what the page shows of it, such as `{ version: '2' }`
 */
export function pageOf<Kind extends keyof typeof pages>(
	kind: Kind,
	members: Readonly<Record<Members<(typeof pages)[Kind]>, string>>,
	query: Readonly<Record<string, string>> = {},
): string {
	const values = new Map<string, string>(Object.entries(members));
	const path = pages[kind].replace(/:(\w+)/g, (_, member: string) => encodeURIComponent(values.get(member) ?? ''));
	const text = new URLSearchParams(query).toString();
	return text === '' ? path : `${path}?${text}`;
}

/** The page that shows a FHIR resource in words; undefined for a type that has none. */
export function pageOfResource(site: string, type: string, id: string): { href: string; title: string } | undefined {
	if (type === 'Patient') return { href: pageOf('patient', { site, id }), title: 'Patient' };
	if (type === 'ImagingStudy') return { href: pageOf('study', { site, id }), title: 'Study' };
	if (type === 'DiagnosticReport') return { href: pageOf('report', { id }), title: 'Report' };
	return undefined;
}
