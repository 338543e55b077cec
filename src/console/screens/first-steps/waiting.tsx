import { useEffect, useState } from 'preact/hooks';
import type { SiteRecord } from '#administration/sites.ts';
import { asFailure } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Icon } from '../../components/icon.tsx';
import { Problem } from '../../components/problem.tsx';
import { ShownOnce, ToCopy } from '../../components/to-copy.tsx';
import { announce } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { listAssociations, listMessages } from './calls.ts';
import type { Sender } from './sender.tsx';

/** The first delivery that arrived. */
interface Arrived {
	tone: 'good' | 'danger';
	text: string;
	href: string;
	link: string;
}

/** The service is asked this often. */
const everyMs = 1500;

async function look(site: string, { sends, sinceMs }: Sender, signal: AbortSignal): Promise<Arrived | undefined> {
	// The clock of this browser may be ahead of the service's.
	const since = new Date(sinceMs - 60_000).toISOString();
	if (sends === 'images') {
		const association = (await listAssociations({ site, since, limit: 1 }, signal))[0];
		if (association === undefined) return undefined;
		const { instances } = association;
		if (instances === 0)
			return {
				tone: 'danger',
				text: 'The sender connected, but no image was stored.',
				href: `/associations?site=${site}`,
				link: 'See why',
			};
		return {
			tone: 'good',
			text: `The first ${instances === 1 ? 'image is' : 'images are'} here.`,
			href: `/studies?site=${site}`,
			link: 'Open the studies',
		};
	}
	const message = (await listMessages({ site, since, limit: 1 }, signal))[0];
	if (message === undefined) return undefined;
	const href = pageOf('message', { id: message.id });
	if (message.outcome === 'refused') return { tone: 'danger', text: 'A message arrived, but it was refused.', href, link: 'See why' };
	return { tone: 'good', text: 'The first message is here.', href, link: 'Open it' };
}

/** Gives the line to paste, and turns green when what it sends has arrived. */
export function Waiting({ site, sender }: { site: SiteRecord; sender: Sender }) {
	const [arrived, setArrived] = useState<Arrived>();
	const [failure, setFailure] = useState<ApiFailure>();
	useEffect(() => {
		const stop = new AbortController();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const again = async () => {
			try {
				const found = await look(site.slug, sender, stop.signal);
				setFailure(undefined);
				if (found !== undefined) {
					setArrived(found);
					announce(found.text);
				}
				// A refused message may be followed by a good one.
				if (found?.tone === 'good') return;
			} catch (error) {
				if (stop.signal.aborted) return;
				setFailure(asFailure(error));
			}
			timer = setTimeout(() => void again(), everyMs);
		};
		void again();
		return () => {
			stop.abort();
			clearTimeout(timer);
		};
	}, [site.slug, sender]);
	return (
		<>
			{sender.secret !== undefined && (
				<>
					<p class="note warning">Copy the key now. It is shown only once, and nobody can look it up later.</p>
					<ShownOnce title="Key" text={sender.secret} copy="Copy key" />
				</>
			)}
			<ToCopy title={`Paste this into a shell${sender.secret === undefined ? ' on the machine that sends' : ''}`} text={sender.line}>
				<p class="hint">The patient is made up. Behind a proxy, use the host and port of the proxy.</p>
			</ToCopy>
			{arrived === undefined ? (
				<p class="first-message" role="status">
					<span class="pulse" aria-hidden="true" />
					Waiting for the first {sender.sends === 'images' ? 'image' : 'message'}…
				</p>
			) : (
				<p class={`first-message ${arrived.tone}`} role="status">
					<Icon name={arrived.tone === 'good' ? 'check' : 'failures'} />
					<span>
						{arrived.text} <a href={arrived.href}>{arrived.link}</a>
					</span>
				</p>
			)}
			{failure && <Problem failure={failure} />}
		</>
	);
}
