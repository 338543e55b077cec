import { decodeJwt, decodeProtectedHeader, type JWK, SignJWT } from 'jose';
import type { TestProvider } from './oidc-provider.ts';

/** Access tokens as an attacker makes them from one that is valid. */

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The token without its signature, with another header. */
export function unsigned(token: string, header: object): string {
	return `${part(header)}.${token.split('.')[1]}.AA`;
}

export function tampered(token: string, header: object): string {
	const [, claims, signature] = token.split('.');
	return `${part({ ...decodeProtectedHeader(token), ...header })}.${claims}.${signature}`;
}

export function changed(token: string, claims: object): string {
	const [header, , signature] = token.split('.');
	return `${header}.${part({ ...decodeJwt(token), ...claims })}.${signature}`;
}

/** Takes what everybody may know, the public key, for a secret. */
export async function hmac(provider: TestProvider, token: string): Promise<string> {
	const answer = await fetch(`${provider.issuer}/jwks`);
	const { keys } = (await answer.json()) as { keys: JWK[] };
	const secret = Buffer.from(JSON.stringify(keys[0]));
	return new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'HS256', kid: String(keys[0]?.kid), typ: 'at+jwt' }).sign(secret);
}
