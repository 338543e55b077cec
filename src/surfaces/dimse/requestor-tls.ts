/** How this side shows itself to a remote AE over TLS, and whom it believes. */
export interface RequestorTls {
	/** PEM. The system's authorities when undefined. */
	authorities?: Buffer | string | undefined;
	/** PEM; shown to a peer that asks for it. */
	cert?: Buffer | string | undefined;
	key?: Buffer | string | undefined;
}
