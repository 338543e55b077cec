export const echoOutcomes = ['answered', 'refused', 'rejected', 'no-context', 'aborted', 'unreachable', 'timeout', 'protocol'] as const;

/** The outcome of a C-ECHO. */
export interface Echo {
	outcome: (typeof echoOutcomes)[number];
	/** The status of the C-ECHO-RSP. */
	status?: number;
	/** In words; of the peer it names no more than its title. */
	reason: string;
}
