import { useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { pageOf } from '../../pages.ts';
import { useSiteScope, useSites } from '../../scope.ts';
import { FirstSender, type Sender } from './sender.tsx';
import { FirstSite } from './site.tsx';
import { Waiting } from './waiting.tsx';

/** Leads from nothing to a first message: a site, a sender, and a line that sends. */
export function FirstSteps() {
	const sites = useSites().filter(({ active }) => active);
	const scope = useSiteScope();
	const [created, setCreated] = useState<string>();
	const [sender, setSender] = useState<Sender>();
	const site = sites.find(({ slug }) => slug === (created ?? scope ?? (sites.length === 1 ? sites[0]?.slug : undefined)));
	return (
		<Page
			title="First steps"
			lead="Three steps lead to a first message. You can leave at any time and come back; what you have made stays."
		>
			<ol class="steps">
				<li>
					<Panel title="1. A site">
						{site === undefined ? (
							<FirstSite sites={sites} onChosen={setCreated} />
						) : (
							<Done>
								<a href={pageOf('site', { slug: site.slug })}>{site.name}</a> keeps its records apart from those of all other sites.
							</Done>
						)}
					</Panel>
				</li>
				<li>
					<Panel title="2. Who sends">
						{site === undefined ? (
							<p class="muted">Create the site first.</p>
						) : sender === undefined ? (
							<FirstSender site={site} onSender={setSender} />
						) : (
							<Done>
								{sender.href === undefined ? sender.name : <a href={sender.href}>{sender.name}</a>} may send to {site.name}.
							</Done>
						)}
					</Panel>
				</li>
				<li>
					<Panel title="3. The first message">
						{site === undefined || sender === undefined ? (
							<p class="muted">Here you get a command to paste, and see its message arrive.</p>
						) : (
							<Waiting site={site} sender={sender} />
						)}
					</Panel>
				</li>
			</ol>
		</Page>
	);
}

function Done({ children }: { children: preact.ComponentChildren }) {
	return (
		<p class="step-done">
			<Icon name="check" />
			<span>{children}</span>
		</p>
	);
}
