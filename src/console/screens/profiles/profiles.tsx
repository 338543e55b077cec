import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Field } from '../../components/field.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { useSiteScope, useSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { settingText, useSettings, useSettingsByName } from '../../settings.ts';
import { AddProfiles, loaded } from './add.tsx';
import { listProfiles, type ProfileRecord, removeProfiles } from './calls.ts';

/** More definitions are not shown at once. A site narrows the list. */
const shownMax = 1000;

const kinds: Readonly<Record<ProfileRecord['kind'], string>> = {
	StructureDefinition: 'Profile',
	ValueSet: 'Value set',
	CodeSystem: 'Code system',
};

const columns = (policyOf: (site: string) => string, remove: (of: ProfileRecord) => void): readonly Column<ProfileRecord>[] => [
	{
		name: 'name',
		title: 'Definition',
		by: ({ name, url }) => name || url,
		cell: ({ name, url, version, kind, type }) => (
			<>
				{name === '' ? 'No name' : name} <span class="muted">{type === '' ? kinds[kind] : `${kinds[kind]} of ${type}`}</span>
				<code class="sub">{version === '' ? url : `${url}|${version}`}</code>
			</>
		),
	},
	{
		name: 'site',
		title: 'Site and policy',
		by: ({ site }) => site,
		tight: true,
		cell: ({ site }) => (
			<>
				<code>{site}</code> <Policy value={policyOf(site)} />
			</>
		),
	},
	{
		name: 'created',
		title: 'Loaded',
		by: ({ created_at: at }) => at,
		spare: true,
		tight: true,
		cell: (one) => (
			<>
				<Time at={one.created_at} />
				{one.package !== '' && <code class="sub">{one.package}</code>}
			</>
		),
	},
	...(may('manager')
		? [
				{
					name: 'actions',
					title: '',
					tight: true,
					cell: (of: ProfileRecord) => (
						<div class="row-actions">
							<Button onClick={() => remove(of)}>Remove…</Button>
						</div>
					),
				},
			]
		: []),
];

function Policy({ value }: { value: string }) {
	const setting = useSettingsByName().get('profiles');
	return <Badge tone={value === 'enforce' ? 'good' : value === 'warn' ? 'warning' : 'neutral'}>{settingText(setting, value)}</Badge>;
}

/** Returns the value of the setting `profiles` that holds for a site, and the meaning of a value. */
function usePolicy(): { of(site: string): string; meaningOf(value: string): string } {
	const sites = useSites();
	const setting = useSettings('site').find(({ name }) => name === 'profiles');
	return {
		of: (slug) => String(sites.find((site) => site.slug === slug)?.profiles ?? setting?.default ?? ''),
		meaningOf: (value) => setting?.values.find((one) => one.value === value)?.meaning.replace(/^\w+: /, '') ?? '',
	};
}

export function Profiles() {
	const site = useSiteScope();
	const policy = usePolicy();
	const answer = useAnswer((signal) => listProfiles({ site, limit: shownMax }, signal), [site]);
	const [adding, setAdding] = useState(false);
	const [removing, setRemoving] = useState<ProfileRecord>();
	const rows = answer.data ?? [];
	const add = may('manager') && (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			Load profiles
		</Button>
	);
	return (
		<Page
			title="Profiles"
			lead={
				<>
					A site can load profiles, value sets and code systems. R4, US Core and IPS are there at every site.
					{site !== undefined && (
						<>
							{' '}
							The policy of the site <code>{site}</code> for writes that do not conform to what they claim is{' '}
							<Policy value={policy.of(site)} />: {policy.meaningOf(policy.of(site))}{' '}
							<a href={pageOf('site', { slug: site })}>Change it on the page of the site.</a>
						</>
					)}
				</>
			}
			actions={add}
		>
			<ListTable
				list={{ ...wholeList(answer, rows), complete: rows.length < shownMax }}
				caption="Profiles"
				noun="definition"
				columns={columns(policy.of, setRemoving)}
				identify={({ id }) => id}
				empty={
					<Empty icon="profiles" title="No profiles loaded yet">
						<p>Load the profiles that your partners conform to, so that what they write is checked against them.</p>
						{add}
					</Empty>
				}
			/>
			{adding && (
				<AddProfiles
					site={site}
					onClose={() => setAdding(false)}
					onAdded={(added) => {
						setAdding(false);
						say(loaded(added));
						answer.reload();
					}}
				/>
			)}
			{removing && (
				<Removing
					of={removing}
					onClose={() => setRemoving(undefined)}
					onRemoved={(removed) => {
						setRemoving(undefined);
						say(removed === 1 ? 'The definition is removed.' : `${removed} definitions are removed.`);
						answer.reload();
					}}
				/>
			)}
		</Page>
	);
}

function Removing({ of, onClose, onRemoved }: { of: ProfileRecord; onClose(): void; onRemoved(removed: number): void }) {
	const [whole, setWhole] = useState(false);
	return (
		<Confirm
			title={`Remove ${of.name || of.url}?`}
			action="Remove"
			danger
			onClose={onClose}
			onConfirm={async () => {
				const { removed } = await removeProfiles(whole ? { profile: of.package, site: of.site } : { profile: of.id });
				onRemoved(removed);
			}}
		>
			<p>
				The site <code>{of.site}</code> no longer checks resources that claim it. What is stored stays as it is.
			</p>
			{of.package !== '' && (
				<Field
					field={{ kind: 'switch', name: 'whole', label: `Remove all definitions of the package ${of.package}` }}
					value={whole}
					error={undefined}
					onValue={(value) => setWhole(value === true)}
				/>
			)}
		</Confirm>
	);
}
