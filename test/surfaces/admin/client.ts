import assert from 'node:assert/strict';
import { resetPassword } from '#administration/users.ts';
import { type TestService, testService } from '#test/support/service.ts';

/** JSON as tests read it: by path, without types. */
type Body = ReturnType<typeof JSON.parse>;

export interface AdminAnswer {
	status: number;
	body: Body;
	headers: Headers;
}

interface Call {
	method?: string;
	body?: unknown;
	headers?: Record<string, string>;
}

/** A browser's tab on the admin surface: it keeps the cookie and the CSRF token. */
export class AdminClient {
	readonly origin: string;
	cookie = '';
	csrfToken = '';

	constructor(origin: string) {
		this.origin = origin;
	}

	async call(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<AdminAnswer> {
		const answer = await fetch(`${this.origin}${path}`, {
			method,
			headers: {
				...(this.cookie === '' ? {} : { Cookie: this.cookie }),
				...(method === 'GET' || this.csrfToken === '' ? {} : { 'X-CSRF-Token': this.csrfToken }),
				...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
				...headers,
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			redirect: 'manual',
		});
		const text = await answer.text();
		const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
		return { status: answer.status, body: isJson ? JSON.parse(text) : text, headers: answer.headers };
	}

	/** Keeps cookie and token where it works. */
	async signIn(email: string, password: string): Promise<AdminAnswer> {
		const answer = await this.call('/api/v1/session', { method: 'POST', body: { email, password } });
		if (answer.status === 200) {
			this.cookie = answer.headers
				.getSetCookie()
				.map((cookie) => cookie.split(';')[0])
				.join('; ');
			this.csrfToken = answer.body.csrf_token;
		}
		return answer;
	}
}

export function adminClient(service: TestService): AdminClient {
	return new AdminClient(`http://127.0.0.1:${service.port('admin')}`);
}

/** Signed in, with a password of their own. */
export async function signedIn(service: TestService, email: string, oneTime: string): Promise<AdminClient> {
	const client = adminClient(service);
	assert.equal((await client.signIn(email, oneTime)).status, 200);
	const change = await client.call('/api/v1/session/password', { method: 'PUT', body: { current: oneTime, password: ownPassword } });
	assert.equal(change.status, 204, JSON.stringify(change.body));
	return client;
}

export const ownPassword = 'seven quiet herons';

export const owner = 'owner@example.org';

/** With a one-time password of the administrator `owner`. */
export async function withOwner(work: (service: TestService, password: string) => Promise<void>, environment: Record<string, string> = {}) {
	await using service = await testService(environment);
	await work(service, (await resetPassword(service.administration, owner)).password);
}
