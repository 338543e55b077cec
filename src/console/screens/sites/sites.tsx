import { useState } from 'preact/hooks';
import type { SiteRecord } from '#administration/sites.ts';
import { useAnswer, wholeList } from '../../answers.ts';
import { Activity, Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { activityColumn, createdColumn } from '../../components/columns.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Form, text, type Values } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { refreshSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { settingValues, statedSettings, useSettings } from '../../settings.ts';
import { addSite, listSites } from './calls.ts';
import { newSite } from './fields.ts';

const columns: readonly Column<SiteRecord>[] = [
	{ name: 'name', title: 'Name', by: ({ name }) => name, cell: ({ name }) => name },
	{ name: 'slug', title: 'Short name', by: ({ slug }) => slug, cell: ({ slug }) => <code>{slug}</code> },
	{
		name: 'ae',
		title: 'AE title',
		by: ({ ae_title: title }) => title,
		cell: ({ ae_title }) => (ae_title === null ? <span class="muted">–</span> : <code>{ae_title}</code>),
	},
	{
		name: 'authority',
		title: 'Assigning authority',
		spare: true,
		cell: ({ default_authority }) => (default_authority === null ? <span class="muted">–</span> : <code>{default_authority}</code>),
	},
	createdColumn(),
	{
		...activityColumn<SiteRecord>(),
		cell: ({ active, move }) => (move?.state === 'left' ? <Badge tone="warning">Moved</Badge> : <Activity active={active} />),
	},
];

export function Sites() {
	const answer = useAnswer((signal) => listSites({}, signal), []);
	const [adding, setAdding] = useState(false);
	const add = may('administrator') && (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New site
		</Button>
	);
	return (
		<Page title="Sites" lead="Each site keeps its own records. No site can read or write the data of another site." actions={add}>
			<ListTable
				list={wholeList(answer)}
				caption="Sites"
				noun="site"
				columns={columns}
				identify={({ id }) => id}
				href={({ slug }) => pageOf('site', { slug })}
				faded={({ active }) => !active}
				empty={
					<Empty icon="sites" title="No sites yet">
						<p>
							A site is a hospital or a practice whose data is kept together. Create a site first: keys, clients and patients belong to one.
						</p>
						{add}
						{may('administrator') && (
							<p>
								Or let the <a href="/first-steps">first steps</a> lead you to a first message.
							</p>
						)}
					</Empty>
				}
			/>
			{adding && <NewSite onClose={() => setAdding(false)} />}
		</Page>
	);
}

function NewSite({ onClose }: { onClose(): void }) {
	const those = useSettings('site');
	const create = async (values: Values) => {
		const ae_title = text(values, 'ae_title');
		const site = await addSite({
			slug: text(values, 'slug'),
			name: text(values, 'name'),
			...(ae_title === '' ? {} : { ae_title }),
			...statedSettings(those, values),
		});
		say(`The site ${site.name} is created.`);
		onClose();
		navigate(pageOf('site', { slug: site.slug }));
		await refreshSites();
	};
	return (
		<Dialog title="New site" onClose={onClose}>
			<Form
				groups={newSite(those)}
				initial={{ slug: '', name: '', ae_title: '', ...settingValues(those) }}
				action="Create site"
				onSubmit={create}
				onCancel={onClose}
			/>
		</Dialog>
	);
}
