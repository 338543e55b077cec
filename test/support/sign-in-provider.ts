import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { signingKey } from './oidc-provider.ts';

/** A person who has signed in to the provider, and what it states about them. */
export interface Person {
	sub: string;
	email?: string;
	email_verified?: boolean;
	groups?: string[];
}

/** The OIDC provider of a network: oidc-provider, with a page that signs `person` in without asking. */
export interface TestSignInProvider extends AsyncDisposable {
	issuer: string;
	clientId: string;
	clientSecret: string;
	/** The person who comes next; undefined: somebody who refuses. */
	person: Person | undefined;
	/** Tells the provider the address of the console, once that listens. */
	serve(console: string): void;
	rollOver(): Promise<void>;
	/** `hangs` never answers, `fails` answers 500. */
	mode: 'answers' | 'hangs' | 'fails';
	/** Signs a token as the provider does. */
	sign(claims: Record<string, unknown>, type?: string): Promise<string>;
}

const clientId = 'tributary';
const clientSecret = 'known only to the test: "&=+';

/** `claimsInToken`: the ID token has the e-mail address and the groups, too; else only the userinfo endpoint has them. */
export async function testSignInProvider({ claimsInToken = true } = {}): Promise<TestSignInProvider> {
	const { SignJWT } = await import('jose');
	let key = await signingKey('RS256');
	let provider: Provider | undefined;
	let consoleOrigin = '';
	const people = new Map<string, Person>();
	const server = createServer((request, response) => void handle(request, response));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const start = () => {
		provider = new Provider(issuer, configuration());
	};
	const configuration = (): Configuration => ({
		clients: [
			{
				client_id: clientId,
				client_secret: clientSecret,
				redirect_uris: [`${consoleOrigin}/api/v1/session/provider/callback`],
				post_logout_redirect_uris: [`${consoleOrigin}/`],
				backchannel_logout_uri: `${consoleOrigin}/api/v1/session/provider/logout`,
				backchannel_logout_session_required: true,
				response_types: ['code'],
				grant_types: ['authorization_code'],
			},
		],
		jwks: { keys: [key.jwk] },
		cookies: { keys: [randomUUID()] },
		claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'], groups: ['groups'] },
		scopes: ['openid', 'email', 'groups'],
		conformIdTokenClaims: !claimsInToken,
		pkce: { required: () => true },
		findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...people.get(id), sub: id }) }),
		interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
		loadExistingGrant: async (context) => {
			const { client, session, provider: its } = context.oidc;
			const grant = new its.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
			grant.addOIDCScope('openid email groups');
			await grant.save();
			return grant;
		},
		features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
	});
	const interact = async (request: IncomingMessage, response: ServerResponse) => {
		const { person } = made;
		if (person === undefined) {
			await provider?.interactionFinished(request, response, { error: 'access_denied' }, { mergeWithLastSubmission: false });
			return;
		}
		people.set(person.sub, person);
		await provider?.interactionFinished(request, response, { login: { accountId: person.sub } }, { mergeWithLastSubmission: false });
	};
	const handle = async (request: IncomingMessage, response: ServerResponse) => {
		const { pathname } = new URL(request.url ?? '/', issuer);
		if (made.mode === 'hangs') return;
		if (made.mode === 'fails' || provider === undefined) response.writeHead(500).end();
		else if (pathname.startsWith('/interaction/')) await interact(request, response);
		else await provider.callback()(request, response);
	};
	const made: TestSignInProvider = {
		issuer,
		clientId,
		clientSecret,
		person: undefined,
		mode: 'answers',
		serve: (origin) => {
			consoleOrigin = origin;
			start();
		},
		rollOver: async () => {
			key = await signingKey('RS256');
			start();
		},
		sign: (claims, typ = 'logout+jwt') =>
			new SignJWT({ iss: issuer, aud: clientId, jti: randomUUID(), ...claims })
				.setProtectedHeader({ alg: key.alg, kid: key.kid, typ })
				.setIssuedAt()
				.setExpirationTime('2m')
				.sign(key.privateKey),
		[Symbol.asyncDispose]: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	return made;
}

/** A browser as far as it is needed: it keeps cookies by host and path, and is told of every redirect. */
export class Visitor {
	readonly #cookies = new Map<string, { origin: string; path: string; value: string }>();

	/** One request, without following where it leads. */
	async get(url: string): Promise<Response> {
		const { origin, pathname } = new URL(url);
		const held = [...this.#cookies].filter(([, cookie]) => cookie.origin === origin && pathname.startsWith(cookie.path));
		const cookie = held.map(([name, { value }]) => `${name.split(' ')[1]}=${value}`).join('; ');
		const answer = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { Cookie: cookie } });
		for (const line of answer.headers.getSetCookie()) {
			const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
			const path = /; path=([^;]+)/i.exec(line)?.[1] ?? '/';
			if (value === '' || /max-age=0(?:;|$)/i.test(line)) this.#cookies.delete(`${origin} ${name}`);
			else this.#cookies.set(`${origin} ${name}`, { origin, path, value });
		}
		return answer;
	}

	/** Follows redirects until an answer is none, or leads to a page of `origin` that is not of its API. */
	async follow(url: string, origin: string): Promise<{ landed: string; chain: string[] }> {
		const chain = [url];
		for (let at = url; chain.length < 20; ) {
			const answer = await this.get(at);
			const location = answer.headers.get('location');
			if (location === null) return { landed: at, chain };
			at = new URL(location, at).href;
			chain.push(at);
			if (at.startsWith(`${origin}/`) && !at.startsWith(`${origin}/api/`)) return { landed: at.slice(origin.length), chain };
		}
		throw new Error(`too many redirects: ${chain.join(' → ')}`);
	}

	cookie(origin: string, name: string): string | undefined {
		return this.#cookies.get(`${origin} ${name}`)?.value;
	}
}
