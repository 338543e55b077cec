/** The sessions that are wanted of the servers of a URL, as libpq names them. */
export const sessionAttributes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type SessionAttributes = (typeof sessionAttributes)[number];

/**
 * The parameter `pooling` of a URL says how its connections come to the server. `session`: each has a session of its own, with its settings and prepared
 * statements. `transaction`: a pooler gives each transaction another session, and prepares statements there by itself. `unprepared`: it does not, so
 * each statement is sent whole.
 */
const poolings = ['session', 'transaction', 'unprepared'] as const;
export type Pooling = (typeof poolings)[number];

/**
 * The parameter `sslmode` of a URL, as libpq defines it. `prefer` and `allow` are refused: they go on without TLS where somebody in between takes it
 * away, and nobody would notice.
 */
const tlsModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** The connections of a URL are encrypted in this way. */
export interface DatabaseTls {
	/** `require` does not look at who the server is, unless there is a `rootCert`; then it is as `verify-ca`. */
	mode: Exclude<(typeof tlsModes)[number], 'disable'>;
	/** The path of the authorities that may have issued the certificate of the server; undefined: those that Node.js trusts. */
	rootCert: string | undefined;
	/** The paths of the certificate that is shown to the server, and of its key. */
	own: { cert: string; key: string } | undefined;
	/** True: the handshake begins at once, as PostgreSQL 17 and newer can. */
	isDirect: boolean;
}

/** One server of a URL; a host that begins with a slash is the folder of a Unix socket. */
export interface DatabaseHost {
	host: string;
	port: number;
}

export interface DatabaseUrl {
	/** The URL with its first host alone, as the driver and the URL standard read it, and without what it says of TLS. */
	first: URL;
	/** They are tried in this order. */
	hosts: readonly DatabaseHost[];
	/** Undefined if the URL does not say it. */
	wanted: SessionAttributes | undefined;
	pooling: Pooling;
	/** False: without TLS; undefined: the URL does not say it, and the driver's own variable (PGSSLMODE) counts. */
	tls: DatabaseTls | false | undefined;
}

const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/;
const defaultPort = 5432;

/**
 * Reads a connection URL of PostgreSQL, which may name several servers: `postgres://u:p@a:5432,b:5433/db?target_session_attrs=read-write`,
 * or `postgres://u:p@/db?host=a,b&port=5432,5433`.
 * @throws Error with a text that quotes nothing of the URL
 */
export function readDatabaseUrl(text: string): DatabaseUrl {
	const [, scheme, user = '', authority = '', rest = ''] = parts.exec(text) ?? [];
	if (scheme === undefined) throw new Error('is a URL that begins with postgres:// or postgresql://');
	const [one = '', ...others] = authority.split(',');
	if (others.includes('') || (one === '' && others.length > 0)) throw new Error('has an empty name among its hosts');
	const urls = [one, ...others].map((host) => parsed(scheme, user, host, rest));
	const [first] = urls;
	if (first === undefined) throw new Error('is no URL');
	const stated = first.searchParams.get('host')?.split(',');
	const hosts = stated === undefined ? urls.map(hostOf) : hostsOf(stated, first.searchParams.get('port')?.split(',') ?? [first.port]);
	const wanted = first.searchParams.get('target_session_attrs') ?? undefined;
	if (wanted !== undefined && !isAttributes(wanted)) throw new Error(`target_session_attrs is one of ${sessionAttributes.join(', ')}`);
	const said = first.searchParams.get('pooling') ?? 'session';
	const pooling = poolings.find((each) => each === said);
	if (pooling === undefined) throw new Error(`pooling is one of ${poolings.join(', ')}`);
	return { first, hosts, wanted, pooling, tls: tlsTaken(first.searchParams) };
}

/** Takes what a URL says of TLS out of its parameters. */
function tlsTaken(parameters: URLSearchParams): DatabaseTls | false | undefined {
	const take = (name: string) => {
		const value = parameters.get(name) ?? undefined;
		parameters.delete(name);
		return value;
	};
	// The driver's own way of asking for what libpq means by these words, which is what they mean here.
	take('uselibpqcompat');
	const [said, stated, cert, key] = [take('sslmode'), take('sslrootcert'), take('sslcert'), take('sslkey')];
	const negotiation = take('sslnegotiation') ?? 'postgres';
	if (said === undefined) {
		if ([stated, cert, key].some((each) => each !== undefined) || negotiation !== 'postgres')
			throw new Error('sslrootcert, sslcert, sslkey and sslnegotiation need sslmode beside them');
		return undefined;
	}
	const mode = tlsModes.find((each) => each === said);
	if (mode === undefined) throw new Error(`sslmode is one of ${tlsModes.join(', ')}`);
	if (!['postgres', 'direct'].includes(negotiation)) throw new Error('sslnegotiation is one of postgres, direct');
	const isSystem = stated === 'system';
	const rootCert = isSystem ? undefined : stated;
	for (const [name, path] of Object.entries({ sslrootcert: rootCert, sslcert: cert, sslkey: key }))
		if (path !== undefined && !path.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(path))
			throw new Error(`${name} is the absolute path of a PEM file`);
	if (mode === 'disable') return false;
	if (mode === 'verify-ca' && rootCert === undefined)
		throw new Error('sslmode=verify-ca needs sslrootcert, the path of the authorities that are trusted');
	if ((cert === undefined) !== (key === undefined)) throw new Error('sslcert and sslkey are given together');
	const own = cert === undefined || key === undefined ? undefined : { cert, key };
	return {
		mode: isSystem ? 'verify-full' : mode,
		rootCert,
		own,
		isDirect: negotiation === 'direct',
	};
}

function parsed(scheme: string, user: string, host: string, rest: string): URL {
	try {
		return new URL(`${scheme}${user}${host}${rest}`);
	} catch {
		// A URL with a user and without a host is none; libpq takes it where the parameters name the host.
		if (host !== '' || !/[?&]host=/.test(rest)) throw new Error('is no URL');
		return new URL(`${scheme}${user}localhost${rest}`);
	}
}

function hostOf({ hostname, port }: URL): DatabaseHost {
	return { host: decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost', port: port === '' ? defaultPort : Number(port) };
}

function hostsOf(hosts: readonly string[], ports: readonly string[]): DatabaseHost[] {
	if (ports.length !== 1 && ports.length !== hosts.length) throw new Error('has one port for all hosts, or one for each');
	return hosts.map((host, index) => {
		const port = ports[ports.length === 1 ? 0 : index] ?? '';
		if (host === '' || !/^\d{0,5}$/.test(port)) throw new Error('has an empty name among its hosts, or a port that is no number');
		return { host, port: port === '' ? defaultPort : Number(port) };
	});
}

function isAttributes(text: string): text is SessionAttributes {
	return sessionAttributes.some((each) => each === text);
}

/**
 * Returns what is wrong with a URL, without quoting it; undefined if nothing is.
 * @param attributes the sessions that may be asked for
 */
export function faultOfDatabaseUrl(text: string, attributes: readonly SessionAttributes[] = sessionAttributes): string | undefined {
	try {
		const { wanted = 'any' } = readDatabaseUrl(text);
		return wanted === 'any' || attributes.includes(wanted) ? undefined : `target_session_attrs is one of ${attributes.join(', ')} here`;
	} catch (error) {
		return (error as Error).message;
	}
}

/** Returns the name of the database. */
export function databaseNameOf(text: string): string {
	return decodeURIComponent(readDatabaseUrl(text).first.pathname.slice(1));
}

/** Returns the passwords that a URL states, as they are written and as they are meant. */
export function passwordsOf(text: string): string[] {
	const { first } = readDatabaseUrl(text);
	const written = [first.password, first.searchParams.get('password') ?? ''];
	return [...new Set([...written, decoded(first.password)])].filter((password) => password !== '');
}

/** The driver takes a percent sign that encodes nothing as it is. */
function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Returns the URL without its password, and all its hosts as they were. */
export function withoutPassword(text: string): string {
	if (passwordsOf(text).length === 0) return text;
	const [, scheme = '', user = '', authority = '', rest = ''] = parts.exec(text) ?? [];
	const [name = ''] = user.slice(0, -1).split(':');
	const [path = '', ...query] = rest.split('?');
	const kept = query
		.join('?')
		.split('&')
		.filter((parameter) => parameter !== '' && !parameter.startsWith('password='));
	return `${scheme}${name === '' ? '' : `${name}@`}${authority}${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}
