/** How an association ended, in words. */
export const endWords: Readonly<Record<string, string>> = {
	released: 'released',
	rejected: 'rejected',
	'peer-abort': 'aborted by the sender',
	closed: 'connection lost',
	protocol: 'protocol error',
	artim: 'no answer in time',
	idle: 'idle for too long',
	stalled: 'stalled',
	access: 'access withdrawn',
	error: 'internal error',
	drained: 'service stopped',
};
