import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { createdColumn } from '../../components/columns.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { say } from '../../components/toast.tsx';
import { useSiteScope } from '../../scope.ts';
import { may } from '../../session.ts';
import { disableIssuer, enableIssuer, type IssuerRecord, listIssuers, removeIssuer } from './calls.ts';
import { EditIssuer } from './edit.tsx';

interface Actions {
	change(issuer: IssuerRecord): void;
	toggle(issuer: IssuerRecord): void;
	remove(issuer: IssuerRecord): void;
}

const columns = ({ change, toggle, remove }: Actions): readonly Column<IssuerRecord>[] => [
	{
		name: 'issuer',
		title: 'Issuer',
		by: ({ label, issuer }) => label || issuer,
		cell: ({ label, issuer }) => (
			<>
				{label === '' ? 'No label' : label}
				<code class="sub">{issuer}</code>
			</>
		),
	},
	{ name: 'site', title: 'Site', by: ({ site }) => site, cell: ({ site }) => <code>{site}</code> },
	{ name: 'clients', title: 'Clients', cell: ({ clients }) => clients.join(', ') },
	{ name: 'audience', title: 'Audience', spare: true, cell: ({ audience }) => <code>{audience}</code> },
	createdColumn('Added'),
	{
		name: 'state',
		title: 'State',
		tight: true,
		cell: ({ active }) => (active ? <Badge tone="good">Active</Badge> : <Badge>Disabled</Badge>),
	},
	...(may('manager')
		? [
				{
					name: 'actions',
					title: '',
					tight: true,
					cell: (issuer: IssuerRecord) => (
						<div class="row-actions">
							<Button onClick={() => change(issuer)}>Change…</Button>
							<Button onClick={() => toggle(issuer)}>{issuer.active ? 'Disable' : 'Enable'}</Button>
							<Button onClick={() => remove(issuer)}>Remove…</Button>
						</div>
					),
				},
			]
		: []),
];

export function Issuers() {
	const site = useSiteScope();
	const answer = useAnswer((signal) => listIssuers({ site }, signal), [site]);
	const [editing, setEditing] = useState<IssuerRecord | 'new'>();
	const [removing, setRemoving] = useState<IssuerRecord>();
	const add = may('manager') && (
		<Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
			New issuer
		</Button>
	);
	const toggle = async (issuer: IssuerRecord) => {
		await (issuer.active ? disableIssuer({ id: issuer.id }) : enableIssuer({ id: issuer.id }));
		say(issuer.active ? 'The tokens of the issuer are refused from now on.' : 'The tokens of the issuer are accepted again.');
		answer.reload();
	};
	return (
		<Page
			title="Token issuers"
			lead="FHIR and DICOMweb accept access tokens of OIDC providers as well as API keys. An issuer says which tokens give access to a site."
			actions={add}
		>
			<ListTable
				list={wholeList(answer)}
				caption="Token issuers"
				noun="issuer"
				columns={columns({ change: setEditing, toggle: (issuer) => void toggle(issuer), remove: setRemoving })}
				identify={({ id }) => id}
				faded={({ active }) => !active}
				empty={
					<Empty icon="keys" title="No token issuers yet">
						<p>Add the OIDC provider of the network, so that its clients can use the site by access tokens (SMART backend services).</p>
						{add}
					</Empty>
				}
			/>
			{editing && (
				<EditIssuer
					of={editing === 'new' ? undefined : editing}
					site={site}
					onClose={() => setEditing(undefined)}
					onSaved={() => {
						setEditing(undefined);
						say('The issuer is saved.');
						answer.reload();
					}}
				/>
			)}
			{removing && (
				<Confirm
					title={`Remove ${removing.label || removing.issuer}?`}
					action="Remove"
					danger
					onClose={() => setRemoving(undefined)}
					onConfirm={async () => {
						await removeIssuer({ id: removing.id });
						say('The issuer is removed.');
						setRemoving(undefined);
						answer.reload();
					}}
				>
					<p>
						Its tokens no longer lead to the site <code>{removing.site}</code>.
					</p>
				</Confirm>
			)}
		</Page>
	);
}
