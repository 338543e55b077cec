import type { SiteRecord } from '#administration/sites.ts';
import { Button } from '../../components/button.tsx';
import { Form, text } from '../../components/form.tsx';
import { refreshSites } from '../../scope.ts';
import { addSite } from '../sites/calls.ts';
import { leastOfSite } from '../sites/fields.ts';

/** Creates the first site, or asks which of several is meant. */
export function FirstSite({ sites, onChosen }: { sites: readonly SiteRecord[]; onChosen(slug: string): void }) {
	if (sites.length > 0) {
		return (
			<>
				<p>Which site is the sender for?</p>
				<div class="choice">
					{sites.map(({ slug, name }) => (
						<Button key={slug} onClick={() => onChosen(slug)}>
							{name}
						</Button>
					))}
				</div>
			</>
		);
	}
	return (
		<>
			<p>A site is a hospital or a practice whose data is kept together. Patients, senders and keys belong to one.</p>
			<Form
				groups={[{ fields: leastOfSite }]}
				initial={{ name: '', slug: '' }}
				action="Create site"
				onSubmit={async (values) => {
					const { slug } = await addSite({ slug: text(values, 'slug'), name: text(values, 'name') });
					await refreshSites();
					onChosen(slug);
				}}
			/>
		</>
	);
}
