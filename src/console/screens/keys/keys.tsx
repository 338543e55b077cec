import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { createdColumn } from '../../components/columns.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { SearchField } from '../../components/search.tsx';
import { NoSite } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { useFilters } from '../../filters.ts';
import { useHasNoSite, useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { type CreatedKey, type KeyRecord, listKeys, revokeKey } from './calls.ts';
import { KeySettings } from './key-settings.tsx';
import { NewKey, Secret } from './new-key.tsx';
import { RotateKey } from './rotate-key.tsx';

/** Shows the state of a key. Whoever sees that it soon ends can rotate it in time. */
function State({ revoked_at: revoked, expires_at: expires, replaced_by: successor, warning }: KeyRecord) {
	if (revoked !== null) return <Badge>Revoked</Badge>;
	const isOver = expires !== undefined && Date.parse(expires) <= Date.now();
	if (isOver) return <Badge tone="danger">Expired</Badge>;
	const unrotated = warning === undefined ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Expires soon</Badge>;
	return (
		<>
			{successor === undefined ? unrotated : <Badge tone="info">Rotated</Badge>}
			{expires !== undefined && (
				<span class="sub">
					ends <Time at={expires} />
				</span>
			)}
		</>
	);
}

type Choose = (key: KeyRecord) => void;

const columns = (change: Choose, rotate: Choose, revoke: Choose): readonly Column<KeyRecord>[] => [
	{
		name: 'label',
		title: 'Key',
		by: ({ label }) => label || null,
		cell: ({ label, prefix }) => (
			<>
				{label === '' ? 'No label' : label}
				<code class="sub">{prefix}…</code>
			</>
		),
	},
	{ name: 'site', title: 'Site', by: ({ site }) => site, cell: ({ site }) => <code>{site}</code> },
	{ name: 'owner', title: 'Owner', by: ({ owner }) => owner, cell: ({ owner }) => owner },
	{ name: 'scopes', title: 'May', spare: true, cell: ({ scopes }) => (scopes === undefined ? 'everything' : scopes.join(', ')) },
	{
		name: 'used',
		title: 'Last used',
		by: ({ last_used_at: at }) => at,
		tight: true,
		cell: ({ last_used_at }) => <Ago at={last_used_at} />,
	},
	createdColumn(),
	{
		name: 'state',
		title: 'State',
		tight: true,
		cell: (key) => <State {...key} />,
	},
	...(may('manager')
		? [
				{
					name: 'actions',
					title: '',
					tight: true,
					cell: (key: KeyRecord) => (
						<div class="row-actions">
							{key.revoked_at === null && <Button onClick={() => change(key)}>Settings…</Button>}
							{key.revoked_at === null && key.replaced_by === undefined && <Button onClick={() => rotate(key)}>Rotate…</Button>}
							{key.revoked_at === null ? <Button onClick={() => revoke(key)}>Revoke…</Button> : <Ago at={key.revoked_at} />}
						</div>
					),
				},
			]
		: []),
];

function fits({ label, prefix, owner, site }: KeyRecord, search: string): boolean {
	return [label, prefix, owner, site].some((member) => member.toLowerCase().includes(search.trim().toLowerCase()));
}

export function Keys() {
	const site = useSiteScope();
	const answer = useAnswer((signal) => listKeys({ site }, signal), [site]);
	const [{ search }, setFilters] = useFilters({ search: '' });
	const [adding, setAdding] = useState(false);
	const [created, setCreated] = useState<CreatedKey>();
	const [changing, setChanging] = useState<KeyRecord>();
	const [rotating, setRotating] = useState<KeyRecord>();
	const [revoking, setRevoking] = useState<KeyRecord>();
	const none = useHasNoSite();
	const add = may('manager') && !none && (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New key
		</Button>
	);
	const rows = (answer.data ?? []).filter((key) => fits(key, search));
	return (
		<Page
			title="API keys"
			lead="FHIR, DICOMweb, HL7 over HTTP and MPPS over HTTP require an API key. A key belongs to one site and one owner."
			actions={add}
		>
			<SearchField
				label="Search keys"
				value={search}
				onValue={(value) => setFilters({ search: value })}
				placeholder="Label, prefix, owner"
			/>
			<ListTable
				list={wholeList(answer, rows)}
				caption="API keys"
				noun="key"
				columns={columns(setChanging, setRotating, setRevoking)}
				identify={({ id }) => id}
				faded={({ revoked_at }) => revoked_at !== null}
				empty={
					none ? (
						<NoSite />
					) : search === '' ? (
						<Empty icon="keys" title="No API keys yet">
							<p>A system needs an API key to read through FHIR or to send over HTTP. The key is shown only once, when it is created.</p>
							{add}
						</Empty>
					) : (
						<Empty icon="search" title="No API keys match the search" />
					)
				}
			/>
			{adding && (
				<NewKey
					site={site}
					onClose={() => setAdding(false)}
					onCreated={(key) => {
						setAdding(false);
						setCreated(key);
						answer.reload();
					}}
				/>
			)}
			{created && <Secret created={created} onClose={() => setCreated(undefined)} />}
			{changing && <KeySettings of={changing} onClose={() => setChanging(undefined)} onSaved={answer.reload} />}
			{rotating && (
				<RotateKey
					of={rotating}
					onClose={() => setRotating(undefined)}
					onRotated={(key) => {
						setRotating(undefined);
						setCreated(key);
						answer.reload();
					}}
				/>
			)}
			{revoking && (
				<Confirm
					title={`Revoke ${revoking.label || revoking.prefix}?`}
					action="Revoke key"
					danger
					onClose={() => setRevoking(undefined)}
					onConfirm={async () => {
						await revokeKey({ id: revoking.id });
						say('The key is revoked.');
						setRevoking(undefined);
						answer.reload();
					}}
				>
					<p>
						Whatever uses <code>{revoking.prefix}…</code> for the site <code>{revoking.site}</code> is refused within a second. This cannot
						be undone, but you can create a new key.
					</p>
					<p>
						Last used: <Ago at={revoking.last_used_at} />
					</p>
				</Confirm>
			)}
		</Page>
	);
}
