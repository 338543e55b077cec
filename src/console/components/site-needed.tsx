import type { ComponentChildren } from 'preact';
import { setSiteScope, useHasNoSite, useSiteScope, useSites } from '../scope.ts';
import { may } from '../session.ts';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import type { IconName } from './icon.tsx';

/** Stands where a site is needed and there is none. */
export function NoSite() {
	return (
		<Empty icon="sites" title="No site yet">
			{may('administrator') ? (
				<p>
					Everything belongs to a site: a hospital or a practice. <a href="/first-steps">Create the first one</a>, and send it a first
					message.
				</p>
			) : (
				<p>You have access to no site. An administrator can give you one.</p>
			)}
		</Empty>
	);
}

/** For screens of a single site: shows the chosen site, or asks for one. A user with one site needs not choose. */
export function SiteNeeded({ icon, children }: { icon: IconName; children: (site: string) => ComponentChildren }) {
	const scope = useSiteScope();
	const sites = useSites();
	const site = scope ?? (sites.length === 1 ? sites[0]?.slug : undefined);
	const none = useHasNoSite();
	if (site !== undefined) return <>{children(site)}</>;
	if (none) return <NoSite />;
	return (
		<Empty icon={icon} title="Choose a site">
			<p>Each site keeps its own records.</p>
			<div class="choice">
				{sites.map(({ slug, name }) => (
					<Button key={slug} onClick={() => setSiteScope(slug)}>
						{name}
					</Button>
				))}
			</div>
		</Empty>
	);
}
