import type { Log } from '#core/log.ts';
import { type HttpResponse, loadServer, type TemplatedApp } from './load.ts';
import { type OpenPort, openPort, type WantedPort } from './open-port.ts';

export interface ListeningOptions extends WantedPort {
	tls?: { certFile: string; keyFile: string } | undefined;
	log: Log;
}

type Accept = (response: HttpResponse, head: { method: string; path: string; query: string; headers: [string, string][] }) => void;

/**
 * The library's part of a server. It reads certificates when an application is made, so renewed ones need another application, which takes the
 * port over. Connections stay with the application that accepted them.
 */
export class ListeningApp {
	readonly #options: ListeningOptions;
	readonly #accept: Accept;
	readonly #apps: TemplatedApp[] = [];
	#open: OpenPort | undefined;
	#port = 0;

	constructor(options: ListeningOptions, accept: Accept) {
		this.#options = options;
		this.#accept = accept;
	}

	get port(): number {
		return this.#port;
	}

	async listen(): Promise<void> {
		this.#open = await this.#openBy(this.#newApp(), this.#options.port);
		this.#port = this.#open.port;
	}

	/** Has new connections get the certificate that the files have now. Never rejects. */
	async renew(): Promise<void> {
		const { sharesPort, log, name } = this.#options;
		const before = this.#open;
		if (before === undefined) return;
		if (sharesPort !== true) {
			log.error({ surface: name }, 'the port cannot change its certificate on this system; restart the service');
			return;
		}
		try {
			// The library reads the files itself, and they may have changed since they were checked.
			this.#open = await this.#openBy(this.#newApp(), this.#port);
		} catch (error) {
			log.error({ err: error, surface: name }, 'the port could not be opened with the new certificates; those of before stay in use');
			return;
		}
		before.close();
	}

	async #openBy(app: TemplatedApp, port: number): Promise<OpenPort> {
		try {
			const open = await openPort(app, { ...this.#options, port });
			this.#apps.push(app);
			return open;
		} catch (error) {
			app.close();
			throw error;
		}
	}

	/** Stops listening. */
	leave(): void {
		this.#open?.close();
		this.#open = undefined;
	}

	/** Ends every connection. */
	close(): void {
		for (const app of this.#apps) app.close();
	}

	#newApp(): TemplatedApp {
		const { uws } = loadServer();
		const { tls } = this.#options;
		const app = tls ? uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile }) : uws.App();
		return app.any('/*', (response, request) => {
			const headers: [string, string][] = [];
			request.forEach((name, value) => {
				headers.push([name, value]);
			});
			const [path, query] = [request.getUrl(), request.getQuery() ?? ''];
			this.#accept(response, { method: request.getCaseSensitiveMethod(), path, query, headers });
		});
	}
}
