import type { TokenIssuer } from './issuer.ts';
import type { Providers } from './providers.ts';

/** The endpoints from which clients of a site get tokens, and the others of the provider that a client may want to know. */
export interface ProviderEndpoints {
	tokenEndpoint: string;
	jwksUrl: string;
	introspectionEndpoint: string | undefined;
	codeChallengeMethods: readonly string[];
}

/** `none`: there is no provider, or none that is the same for all who ask. `away`: the provider that would say it does not answer. */
export type FoundEndpoints = ProviderEndpoints | 'none' | 'away';

/**
 * Returns the endpoints of the provider of a site. A site with several names its first one. Without a site, returns those of the provider
 * that all sites have in common: whoever has no key learns nothing that tells sites apart.
 */
export async function endpointsOf(
	rows: readonly TokenIssuer[],
	siteId: string | undefined,
	providers: Providers,
	isPatient: boolean,
): Promise<FoundEndpoints> {
	const [row, ...others] = siteId === undefined ? rows : rows.filter((other) => other.siteId === siteId);
	if (row === undefined) return 'none';
	if (siteId === undefined && others.some((other) => !isSameProvider(other, row))) return 'none';
	const { jwksUrl, tokenEndpoint, introspection } = row;
	if (jwksUrl !== undefined && tokenEndpoint !== undefined) {
		return { jwksUrl, tokenEndpoint, introspectionEndpoint: introspection?.url, codeChallengeMethods: [] };
	}
	const metadata = await providers.metadataOf(row.issuer, isPatient);
	if (metadata === undefined) return 'away';
	const token = tokenEndpoint ?? metadata.tokenEndpoint;
	if (token === undefined) return 'none';
	return {
		jwksUrl: jwksUrl ?? metadata.jwksUrl,
		tokenEndpoint: token,
		introspectionEndpoint: introspection?.url ?? metadata.introspectionEndpoint,
		codeChallengeMethods: metadata.codeChallengeMethods,
	};
}

function isSameProvider(one: TokenIssuer, other: TokenIssuer): boolean {
	return one.issuer === other.issuer && one.jwksUrl === other.jwksUrl && one.tokenEndpoint === other.tokenEndpoint;
}
