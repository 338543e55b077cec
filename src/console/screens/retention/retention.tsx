import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useFilters } from '../../filters.ts';
import { useSiteScope } from '../../scope.ts';
import { DeletedStudies } from './deleted.tsx';
import { Holds } from './holds.tsx';
import { WhatStays } from './policy.tsx';
import { Runs } from './runs.tsx';

/** Shows for how long each site keeps what, what would go, what a legal hold keeps, and what went. */
export function Retention() {
	const site = useSiteScope();
	const [{ tab }, setFilters] = useFilters({ tab: 'kept' });
	const tabs = [
		{ name: 'kept', title: 'How long data is kept', content: () => <WhatStays key={site} site={site} /> },
		{ name: 'holds', title: 'Legal holds', content: () => <Holds site={site} /> },
		{ name: 'runs', title: 'Runs', content: () => <Runs /> },
		{ name: 'deleted', title: 'Deleted studies', content: () => <DeletedStudies site={site} /> },
	];
	return (
		<Page
			title="Retention"
			lead="Once a day the service removes what is older than its site wants to keep it. A legal hold stops that for a patient or a study."
		>
			<Tabs label="Retention" tabs={tabs} chosen={tab} onChoose={(name) => setFilters({ tab: name })} />
		</Page>
	);
}
