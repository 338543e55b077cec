import type { TokenIssuer } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError } from './context.ts';

/**
 * A token leads to exactly one row. Two rows of one issuer are told apart by their audience, by their clients, or by one claim of which each
 * wants another value. Otherwise the tokens of one site would be refused as soon as another site names their issuer.
 * @throws AdministrationError that names the other site only to those who have access to it
 */
export function refuseSharedTokens({ actor }: AdministrationContext, row: TokenIssuer, others: readonly TokenIssuer[]): void {
	const other = others.find((one) => sharesTokens(row, one));
	if (other === undefined) return;
	const { slug } = other.site;
	const isKnown = actor.sites === 'all' || actor.sites.includes(slug);
	throw new AdministrationError(
		`${isKnown ? `the site '${slug}'` : 'another site'} takes the same tokens; tell them apart by audience, client or site_claim`,
		'conflict',
		'audience',
	);
}

function sharesTokens(one: TokenIssuer, other: TokenIssuer): boolean {
	if (one.audience !== other.audience) return false;
	if (!one.clients.some((client) => other.clients.includes(client))) return false;
	return one.siteClaim === null || one.siteClaim !== other.siteClaim || one.siteValue === other.siteValue;
}
