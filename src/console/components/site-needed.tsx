import type { ComponentChildren } from 'preact';
import { setSiteScope, useSiteScope, useSites } from '../scope.ts';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import type { IconName } from './icon.tsx';

/** For screens of a single site: shows the chosen site, or asks for one. A user with one site needs not choose. */
export function SiteNeeded({ icon, children }: { icon: IconName; children: (site: string) => ComponentChildren }) {
	const scope = useSiteScope();
	const sites = useSites();
	const site = scope ?? (sites.length === 1 ? sites[0]?.slug : undefined);
	if (site !== undefined) return <>{children(site)}</>;
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
