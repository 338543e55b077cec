import { useState } from 'preact/hooks';
import type { ShownSite } from '#administration/sites.ts';
import { type Answer, useAnswer } from '../../answers.ts';
import { Activity, Badge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { changed, Form, type Values } from '../../components/form.tsx';
import { InForce } from '../../components/in-force.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { refreshSites } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { settingValues, useSettings } from '../../settings.ts';
import { disableSite, enableSite, setSite, showSite } from './calls.ts';
import { siteSettings } from './fields.ts';
import { StoredTimes } from './stored-times.tsx';

const up = { href: '/sites', title: 'Sites' };

export function Site({ parameters: { slug = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showSite({ slug }, signal), [slug]);
	if (answer.data === undefined) {
		return (
			<Page title={slug} up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading />}
			</Page>
		);
	}
	return <Shown site={answer.data} reload={answer.reload} />;
}

function Shown({ site, reload }: { site: ShownSite; reload: Answer<ShownSite>['reload'] }) {
	const [asking, setAsking] = useState(false);
	const renew = async () => {
		reload();
		await refreshSites();
	};
	const toggle = may('administrator') && (
		<Button icon={site.active ? 'close' : 'check'} onClick={() => setAsking(true)}>
			{site.active ? 'Disable…' : 'Enable…'}
		</Button>
	);
	const query = new URLSearchParams({ site: site.slug });
	return (
		<Page
			title={site.name}
			up={up}
			marks={site.move?.state === 'left' ? <Badge tone="warning">Moved</Badge> : <Activity active={site.active} />}
			actions={toggle}
		>
			<Panel
				title="This site"
				actions={
					<>
						<LinkButton href={`/keys?${query}`} icon="keys">
							Keys
						</LinkButton>
						<LinkButton href={`/clients?${query}`} icon="clients">
							Clients
						</LinkButton>
						<LinkButton href={`/remote-aes?${query}`} icon="remotes">
							Remote AEs
						</LinkButton>
					</>
				}
			>
				<Facts
					facts={[
						['Short name', <code key="slug">{site.slug}</code>],
						['AE title', site.ae_title && <code>{site.ae_title}</code>],
						['Created', <Time key="at" at={site.created_at} />],
						['Id', <code key="id">{site.id}</code>],
					]}
				/>
				{site.move && <Move move={site.move} />}
			</Panel>
			<div class="columns wide-first">
				<Panel title="Settings">
					<Settings site={site} renew={renew} />
				</Panel>
				<div>
					<Panel title="In force">
						<InForce holder="site" settings={site.settings} />
					</Panel>
					<Panel title="Stored times">
						<StoredTimes
							timeZone={site.time_zone ?? ''}
							set={(asked) => setSite({ slug: site.slug, ...asked })}
							onSet={() => void renew()}
						/>
					</Panel>
				</div>
			</div>
			{asking && <Toggle site={site} onClose={() => setAsking(false)} renew={renew} />}
		</Page>
	);
}

type SiteMove = NonNullable<ShownSite['move']>;

const moving: Readonly<Record<SiteMove['state'], (peer: string) => string>> = {
	leaving: (peer) => `It is being copied to the database ${peer}, and goes on here meanwhile.`,
	left: (peer) => `It was moved to the database ${peer}. Nothing is taken for it here.`,
	arriving: (peer) => `It is being copied from the database ${peer}, and is not served here yet.`,
};

function Move({ move: { state, peer, since } }: { move: SiteMove }) {
	return (
		<p class="note warning">
			{moving[state](peer)} Since <Time at={since} />.
		</p>
	);
}

function Settings({ site, renew }: { site: ShownSite; renew(): Promise<void> }) {
	const those = useSettings('site');
	const initial: Values = {
		name: site.name,
		ae_title: site.ae_title ?? '',
		...settingValues(those, site),
		waiting_max: String(site.waiting_max ?? ''),
		associations_max: String(site.associations_max ?? ''),
	};
	return (
		<Form
			key={JSON.stringify(initial)}
			groups={siteSettings(those, site, may('administrator'))}
			initial={initial}
			action="Save"
			fixed={!may('manager')}
			onlyChanged
			onSubmit={async (values) => {
				await setSite({ slug: site.slug, ...changed(initial, values) });
				say('Settings saved.');
				await renew();
			}}
		/>
	);
}

function Toggle({ site, onClose, renew }: { site: ShownSite; onClose(): void; renew(): Promise<void> }) {
	const act = async () => {
		await (site.active ? disableSite : enableSite)({ slug: site.slug });
		say(site.active ? `${site.name} is disabled.` : `${site.name} is enabled.`);
		onClose();
		await renew();
	};
	if (!site.active) {
		return (
			<Confirm title={`Enable ${site.name}?`} action="Enable" onConfirm={act} onClose={onClose}>
				<p>Its API keys and integration clients work again within a second.</p>
			</Confirm>
		);
	}
	return (
		<Confirm title={`Disable ${site.name}?`} action="Disable site" name={site.slug} danger onConfirm={act} onClose={onClose}>
			<p>Within a second every API key and integration client of this site is refused, on open connections too. Senders get errors.</p>
			<p>Stored data is kept, and you can enable the site again.</p>
		</Confirm>
	);
}
