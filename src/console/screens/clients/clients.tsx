import { useState } from 'preact/hooks';
import type { ClientRecord } from '#administration/clients.ts';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { activityColumn } from '../../components/columns.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Form, type Values } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { SearchField } from '../../components/search.tsx';
import { NoSite } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { say } from '../../components/toast.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { useHasNoSite, useSiteScope, useSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { useSettings } from '../../settings.ts';
import { addClient, listClients } from './calls.ts';
import { blank, clientGroups, inputOf, protocolNames } from './fields.ts';
import { useOverlap } from './overlap.tsx';
import { SenderTest } from './sender-test.tsx';

export function Addresses({ addresses }: { addresses: readonly string[] }) {
	return (
		<span class="chips">
			{addresses.map((address) =>
				address === '*' ? (
					<Badge key={address} tone="warning">
						any address
					</Badge>
				) : (
					<code key={address} class="chip">
						{address}
					</code>
				),
			)}
		</span>
	);
}

/** The values that a sender must state, in the terms of its protocol. */
export function Sender({ client }: { client: ClientRecord }) {
	const parts = [
		['MSH-3', client.sending_application],
		['MSH-4', client.sending_facility],
		['AE', client.calling_ae],
	].filter(([, value]) => value !== null);
	if (parts.length === 0) return <span class="muted">any</span>;
	return (
		<>
			{parts.map(([name, value]) => (
				<span key={name} class="pair">
					<span class="muted">{name}</span> <code>{value}</code>{' '}
				</span>
			))}
		</>
	);
}

const columns: readonly Column<ClientRecord>[] = [
	{ name: 'name', title: 'Name', by: ({ name }) => name, cell: ({ name }) => name },
	{ name: 'site', title: 'Site', by: ({ site }) => site, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'protocols',
		title: 'Protocols',
		cell: ({ protocols }) => (
			<span class="badges">
				{protocols.map((protocol) => (
					<Badge key={protocol} tone="info">
						{protocolNames[protocol] ?? protocol}
					</Badge>
				))}
			</span>
		),
	},
	{ name: 'addresses', title: 'Addresses', cell: ({ allowed_ips }) => <Addresses addresses={allowed_ips} /> },
	{ name: 'sender', title: 'Sender', spare: true, cell: (client) => <Sender client={client} /> },
	activityColumn(),
];

function fits(client: ClientRecord, search: string): boolean {
	const { name, site, allowed_ips, sending_application, sending_facility, calling_ae } = client;
	const members = [name, site, ...allowed_ips, sending_application, sending_facility, calling_ae];
	return members.some((member) => member?.toLowerCase().includes(search.trim().toLowerCase()));
}

export function Clients() {
	const site = useSiteScope();
	const answer = useAnswer((signal) => listClients({ site }, signal), [site]);
	const [{ search }, setFilters] = useFilters({ search: '' });
	const [adding, setAdding] = useState(false);
	const [testing, setTesting] = useState(false);
	const none = useHasNoSite();
	const add = may('manager') && !none && (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New client
		</Button>
	);
	const rows = (answer.data ?? []).filter((client) => fits(client, search));
	return (
		<Page
			title="Integration clients"
			lead="Systems that send over MLLP or DICOM have no API key. Their address and what they state about themselves decide the site."
			actions={
				<>
					<Button icon="search" onClick={() => setTesting(true)}>
						Would this sender match?
					</Button>
					{add}
				</>
			}
		>
			<SearchField
				label="Search clients"
				value={search}
				onValue={(value) => setFilters({ search: value })}
				placeholder="Name, address, sender"
			/>
			<ListTable
				list={wholeList(answer, rows)}
				caption="Integration clients"
				noun="client"
				columns={columns}
				identify={({ id }) => id}
				href={({ id }) => pageOf('client', { id })}
				faded={({ active }) => !active}
				empty={
					none ? (
						<NoSite />
					) : search === '' ? (
						<Empty icon="clients" title="No integration clients yet">
							<p>
								A hospital information system, a laboratory or a modality becomes a client of its site here; until then it is turned away.
							</p>
							{add}
						</Empty>
					) : (
						<Empty icon="search" title="No clients match the search" />
					)
				}
			/>
			{adding && <NewClient site={site} onClose={() => setAdding(false)} />}
			{testing && (
				<Dialog title="Would this sender match?" onClose={() => setTesting(false)}>
					<SenderTest />
				</Dialog>
			)}
		</Page>
	);
}

interface NewClientProps {
	site: string | undefined;
	/** Values of the client that are known already. */
	prefilled?: Values;
	onClose(): void;
	/** The page of the client is shown where this is absent. */
	onMade?(): void;
}

export function NewClient({ site, prefilled, onClose, onMade }: NewClientProps) {
	const sites = useSites().filter(({ active }) => active);
	const those = useSettings('client');
	const { carryOut, question } = useOverlap();
	return (
		<Dialog title="New integration client" onClose={onClose} size="large">
			<Form
				groups={clientGroups(those, sites)}
				initial={{ ...blank(those), ...prefilled, site: site ?? (sites.length === 1 ? (sites[0]?.slug ?? '') : '') }}
				action="Create client"
				onCancel={onClose}
				onSubmit={(values) =>
					carryOut(async (confirmed) => {
						const client = await addClient({ ...inputOf(those, values), ...confirmed });
						say(`${client.name} can now send to ${client.site}.`);
						onClose();
						if (onMade) onMade();
						else navigate(pageOf('client', { id: client.id }));
					})
				}
			/>
			{question}
		</Dialog>
	);
}
