/** Writes host and port as a URL has them: IPv6 in brackets. */
export function hostAndPort({ host, port }: { host: string; port: number }): string {
	return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
