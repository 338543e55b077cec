/** The identity of this side towards a remote AE over TLS, and the authorities that it trusts. */
export interface RequestorTls {
	/** The trusted authorities in PEM; undefined means those of the system. */
	authorities?: Buffer | string | undefined;
	/** The certificate in PEM, shown to a peer that asks for it. */
	cert?: Buffer | string | undefined;
	key?: Buffer | string | undefined;
}
