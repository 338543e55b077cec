/** TLS protects keys and tokens on their way, except where they do not leave the host. */
export function isProviderUrl(text: string): boolean {
	const url = URL.parse(text);
	if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
	return url.protocol === 'https:' || (url.protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname));
}

/** Returns the host of a URL, an IPv6 address without its brackets. */
export function hostOf(url: string): string {
	return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
