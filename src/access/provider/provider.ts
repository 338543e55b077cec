import { compactVerify, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import {
	allowInsecureRequests,
	authorizationCodeGrant,
	buildAuthorizationUrl,
	buildEndSessionUrl,
	type ClientAuth,
	ClientSecretBasic,
	ClientSecretPost,
	Configuration,
	calculatePKCECodeChallenge,
	clockTolerance,
	customFetch,
	discovery,
	fetchUserInfo,
	None,
} from 'openid-client';
import type { Clock } from '#core/clock.ts';
import type { Json, JsonObject } from '#core/json.ts';
import type { Log } from '#core/log.ts';
import { everyTarget } from '#core/target-policy.ts';
import type { AccessLimits } from '../limits.ts';
import { boundedFetch, callProvider, ProviderError } from '../tokens/call.ts';
import { Held } from '../tokens/held.ts';
import { isAlgorithm, KeySet } from '../tokens/key-set.ts';
import type { Attempt } from './attempt.ts';
import { type ProviderIdentity, readIdentity } from './identity.ts';

/** The OIDC provider by which people sign in, from the environment. */
export interface ProviderSettings {
	issuer: string;
	clientId: string;
	clientSecret: string | undefined;
	/** The claim with the groups of a person. */
	groupsClaim: string;
	/** The scopes that are asked for, separated by blanks. */
	scope: string;
}

export interface ProviderOptions {
	limits: Pick<AccessLimits, 'tokenProviderMsMax' | 'tokenKeysMsMax' | 'tokenKeysStaleMsMax' | 'tokenKeysUnknownMs' | 'tokenSkewMsMax'>;
	log: Log;
	clock: Clock;
}

/** A logout token is about a person, one of their sessions, or both. */
export interface LoggedOut {
	subject: string | null;
	session: string | null;
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** A provider sends a logout token at once. An older one was sent before, or is somebody else's. */
const logoutAgeSecondsMax = 300;

/**
 * Speaks to the provider: authorization code with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636). `openid-client` makes the requests and checks
 * answers and claims. The signature is checked by the keys that access tokens are checked by, with the same list of algorithms.
 */
export class SignInProvider {
	readonly settings: ProviderSettings;
	readonly #options: ProviderOptions;
	readonly #configuration: Held<Configuration>;
	readonly #keys: KeySet;

	constructor(settings: ProviderSettings, options: ProviderOptions) {
		this.settings = settings;
		this.#options = options;
		const { limits, log, clock } = options;
		const holding = { freshMs: limits.tokenKeysMsMax, staleMs: limits.tokenKeysStaleMsMax, log, clock };
		this.#configuration = new Held({ ...holding, what: 'metadata of the sign-in provider', fetch: () => this.#discover() });
		const fetch = async (): Promise<Json> => {
			const url = (await this.#configuration.current())?.serverMetadata().jwks_uri;
			if (url === undefined) throw new ProviderError('the address of the keys is not known');
			return callProvider(url, { method: 'GET' }, { targets: everyTarget, msMax: limits.tokenProviderMsMax });
		};
		this.#keys = new KeySet({ ...holding, what: 'keys of the sign-in provider', fetch, unknownMs: limits.tokenKeysUnknownMs });
	}

	async #discover(): Promise<Configuration> {
		const { issuer, clientId, clientSecret } = this.settings;
		const { tokenProviderMsMax, tokenSkewMsMax } = this.#options.limits;
		const timeout = Math.max(1, Math.ceil(tokenProviderMsMax / 1000));
		// The own host needs no TLS; `boundedFetch` refuses every other http URL.
		const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
		const found = await discovery(new URL(issuer), clientId, undefined, None(), { execute, timeout, [customFetch]: boundedFetch });
		const metadata = { [clockTolerance]: Math.ceil(tokenSkewMsMax / 1000) };
		const configuration = new Configuration(
			found.serverMetadata(),
			clientId,
			metadata,
			authentication(clientSecret, found.serverMetadata().token_endpoint_auth_methods_supported),
		);
		configuration.timeout = timeout;
		configuration[customFetch] = boundedFetch;
		for (const extension of execute) extension(configuration);
		return configuration;
	}

	/** Returns where the browser goes to sign in; undefined while the provider is away. */
	async authorizationUrl(attempt: Attempt, redirectUri: string): Promise<string | undefined> {
		const configuration = await this.#configuration.current();
		if (configuration === undefined) return undefined;
		return buildAuthorizationUrl(configuration, {
			redirect_uri: redirectUri,
			scope: this.settings.scope,
			state: attempt.state,
			nonce: attempt.nonce,
			code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
			code_challenge_method: 'S256',
		}).href;
	}

	/**
	 * Returns who signed in, by the URL to which the provider sent the browser.
	 * @throws Error if the provider is away, refused, or answered something else than was asked
	 */
	async identityOf(answer: URL, { state, nonce, verifier }: Attempt): Promise<ProviderIdentity> {
		const configuration = await this.#configuration.current();
		if (configuration === undefined) throw new ProviderAway();
		const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
		const tokens = await authorizationCodeGrant(configuration, answer, checks);
		const stated = tokens.claims();
		if (tokens.id_token === undefined || stated === undefined) throw new ProviderError('the provider gave no ID token');
		const { key, algorithms } = await this.#signatureOf(tokens.id_token);
		await compactVerify(tokens.id_token, key, { algorithms });
		const claims = stated as unknown as JsonObject;
		const identity = readIdentity(claims, this.settings.groupsClaim);
		const isWhole = identity.email !== undefined && identity.groups !== undefined;
		if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return identity;
		const more = (await fetchUserInfo(configuration, tokens.access_token, stated.sub)) as unknown as JsonObject;
		return readIdentity({ ...more, ...claims }, this.settings.groupsClaim);
	}

	/**
	 * Returns the key and the algorithm by which the signature of the token is to be verified.
	 * @throws Error if its head names no key of the provider, or an algorithm that is not taken
	 */
	async #signatureOf(token: string) {
		const { alg, kid } = decodeProtectedHeader(token);
		if (!isAlgorithm(alg)) throw new ProviderError('the token is signed by an algorithm that is not taken');
		const key = await this.#keys.find({ alg, kid });
		if (key === 'unavailable') throw new ProviderAway();
		if (key === undefined) throw new ProviderError('the token is signed by no key of the provider');
		return { key, algorithms: [alg] };
	}

	/**
	 * Reads a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6). Returns undefined for one that is not the provider's, or not about
	 * this client.
	 * @throws ProviderAway when that cannot be found out
	 */
	async loggedOut(token: string): Promise<LoggedOut | undefined> {
		try {
			const { key, algorithms } = await this.#signatureOf(token);
			const { payload } = await jwtVerify(token, key, {
				issuer: this.settings.issuer,
				audience: this.settings.clientId,
				algorithms,
				maxTokenAge: logoutAgeSecondsMax,
				clockTolerance: Math.ceil(this.#options.limits.tokenSkewMsMax / 1000),
				currentDate: new Date(this.#options.clock.nowMs()),
			});
			const { sub = null, sid, events, nonce, jti } = payload;
			const isLogout = typeof events === 'object' && events !== null && logoutEvent in events;
			const session = typeof sid === 'string' ? sid : null;
			if (!isLogout || nonce !== undefined || jti === undefined || (sub === null && session === null)) return undefined;
			return { subject: sub, session };
		} catch (error) {
			if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof ProviderError) return undefined;
			throw error;
		}
	}

	/** Returns where the browser signs out of the provider (OpenID Connect RP-Initiated Logout 1.0), if the provider has such a place. */
	async endSessionUrl(backTo: string): Promise<string | undefined> {
		const configuration = await this.#configuration.current(false);
		if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
		return buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo }).href;
	}
}

/** The provider does not answer, or its metadata or keys are not known. */
export class ProviderAway extends Error {
	override readonly name = 'ProviderAway';
}

/** A provider that does not say how takes HTTP Basic (OpenID Connect Discovery 1.0 §3). */
function authentication(secret: string | undefined, methods: readonly string[] = ['client_secret_basic']): ClientAuth {
	if (secret === undefined) return None();
	return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
